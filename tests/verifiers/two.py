"""A settle pass in a process of its own, whose verifier waits for a file: `python -m tests.verifiers.two`.

It says `asking` for each look-up, and goes on once FOLDER/go is there.
"""

import sys
import time
from os import environ
from pathlib import Path
from typing import Any

import django


def patient(question: Any) -> Any:
    from runs.verifiers import Finding

    sys.stdout.write(f"asking {question.job_id}\n")
    sys.stdout.flush()
    go = Path(environ["FOLDER"], "go")
    deadline = time.monotonic() + 60
    while not go.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return Finding.happened("In the log.", f"message of {question.job_id}")


def main() -> None:
    django.setup()
    from runs import settle

    sys.stdin.readline()
    settle.one_pass()


if __name__ == "__main__":
    main()
