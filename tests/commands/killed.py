"""A settle pass that is killed when it has had the third answer: `python -m tests.commands.killed`."""

import os
import signal
from itertools import count

import django


def main() -> None:
    django.setup()
    from runs import settle
    from runs.commands import operations

    record, turns = operations._record, count(1)

    def killed(pk: int, status: str) -> None:
        if next(turns) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        record(pk, status)

    operations._record = killed
    settle.one_pass()


if __name__ == "__main__":
    main()
