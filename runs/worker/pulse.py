"""The heartbeat: keeps the lease alive and brings the signal, in a thread of its own while a run lasts.

The lease may lapse in spite of it (the server is away); that is for the server to judge, not for this side.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

from runs.worker import wire
from runs.worker.causes import other
from runs.worker.errors import NoAnswer
from runs.worker.plans import Plan, Retry, log
from runs.worker.run import Timing
from runs.worker.step import Claim


def beat(claim: Claim, timing: Timing, retry: Retry) -> Plan[float]:
    """One heartbeat. Returns in how many seconds the next is due: 0 to confirm a signal that was news.

    Where it is denied (401, 403, 404) or not understood, the token is cancelled: a run that cannot be told to
    stop must not start anything more.
    """
    known = claim.cancel.signal
    heard = known.seq if known else None
    try:
        answer = yield wire.command(claim.job_id, "heartbeat", claim=claim.token, heard=heard)
        claim.cancel.observe(answer)
    except NoAnswer as fault:
        log.info("heartbeat of %s: %s", claim.job_id, fault)
        return min(timing.heartbeat, retry.longest if fault.retry_after is None else fault.retry_after)
    except Exception as error:
        log.error("heartbeat of %s", claim.job_id, exc_info=error)
        claim.cancel.cancel(other(error))
        return timing.heartbeat
    news = claim.cancel.signal
    return 0.0 if news is not None and news.seq != heard else timing.heartbeat


def farewell(claim: Claim, timing: Timing, retry: Retry) -> Plan[None]:
    """After a cancel that reserve told of: hear the signal itself and confirm it, if the server is there."""
    while (yield from beat(claim, timing, retry)) == 0:
        pass


class Heartbeat:
    """`with Heartbeat(...)`: calls `beat` every so often in a thread, which has ended when the block has."""

    def __init__(self, beat: Callable[[], float], first: float, name: str) -> None:
        self._beat = beat
        self._first = first
        self._over = False
        self._due = threading.Event()
        self._thread = threading.Thread(target=self._loop, name=f"heartbeat {name}", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def now(self) -> None:
        """The next beat is due: there is something to confirm."""
        self._due.set()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over = True
        self._due.set()
        self._thread.join()

    def _loop(self) -> None:
        pause = self._first
        while True:
            self._due.wait(pause)
            self._due.clear()
            if self._over:
                return
            pause = self._beat()
