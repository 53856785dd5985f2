"""A subprocess: terminated, and killed after a grace, with all that it started.

Bound: `grace` and a tenth of a second. POSIX: it runs in a process group of its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from runs.worker import Cancelled, CancelToken

POLL = 0.05


def run_process(
    token: CancelToken, command: Sequence[str], *, grace: float = 5.0, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run` without `input`, `timeout` and `check`; output goes where `stdout` and `stderr` say.

    Raises Cancelled after it has ended: its code and output stand in a note. One that had ended by itself
    before the cancel is returned. An abort kills at once.
    """
    token.raise_if_cancelled()
    with subprocess.Popen(command, start_new_session=True, **options) as process:  # noqa: S603 (the caller's)
        try:
            out, err = _until_cancelled(token, process)
            if not token.cancelled or process.returncode is not None:
                return subprocess.CompletedProcess(command, process.returncode, out, err)
            _to_all(process, signal.SIGTERM)
            out, err = _until_killed(token, process, time.monotonic() + grace)
        except BaseException:
            _to_all(process, signal.SIGKILL)
            raise
    assert token.cause is not None
    stopped = Cancelled(token.cause)
    stopped.add_note(f"{command[0]} ended with {process.returncode}: {out!r} {err!r}")
    raise stopped


def _until_cancelled(token: CancelToken, process: subprocess.Popen[Any]) -> tuple[Any, Any]:
    while not token.cancelled:
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=POLL)
    return None, None


def _until_killed(token: CancelToken, process: subprocess.Popen[Any], deadline: float) -> tuple[Any, Any]:
    """What it started may hold its pipes longer than it lives: communicate ends when all of them have."""
    while time.monotonic() < deadline and not token.aborted:
        with suppress(subprocess.TimeoutExpired):
            said = process.communicate(timeout=POLL)
            _to_all(process, signal.SIGKILL)  # those that closed their pipes and stayed
            return said
    _to_all(process, signal.SIGKILL)
    return process.communicate()


def _to_all(process: subprocess.Popen[Any], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
