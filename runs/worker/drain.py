"""What a worker knows of its own runs: their tokens, their time limits, and how they are told to drain."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from runs.worker.cancel import CancelToken
from runs.worker.causes import RUN_HARD_TIMEOUT, SHUTDOWN, Cause
from runs.worker.plans import Retry
from runs.worker.run import Timing

EVERY_15_SECONDS = Timing()

#: An outcome must arrive however long the server is away.
PATIENT = Retry()


class Drained:
    """What both workers have in common. `draining`: nothing new is started any more."""

    def __init__(
        self,
        *,
        name: str,
        tools: Mapping[str, Callable[..., Any]],
        timing: Timing = EVERY_15_SECONDS,
        retry: Retry = PATIENT,
        socket: bool = True,
    ) -> None:
        self._name = name
        self._tools = dict(tools)
        self._timing = timing
        self._retry = retry
        self._socket = socket
        self._lock = threading.Lock()
        self._runs: set[CancelToken] = set()
        self._down: Cause | None = None

    @property
    def draining(self) -> bool:
        return self._down is not None

    def shutdown(self, cause: Cause = SHUTDOWN) -> None:
        """Tell every run, and those that are still to come, to stop: no further step is begun, the tokens of
        those that run are cancelled, and after `Timing.grace` aborted. Returns at once; each run ends in its
        own time, and reports what it did.
        """
        with self._lock:
            self._down = self._down or cause
            runs = list(self._runs)
        for token in runs:
            token.cancel(cause, self._timing.grace)

    @contextmanager
    def drain_on(self, *signals: signal.Signals) -> Iterator[None]:
        """Within the block these signals (none given: SIGTERM) shut down. For the main thread."""
        before = {}
        for one in signals or (signal.SIGTERM,):
            # In a thread: the handler may have interrupted the very code that holds a token's lock.
            before[one] = signal.signal(one, lambda *_: threading.Thread(target=self.shutdown).start())
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    @contextmanager
    def _running(self, under: CancelToken | None) -> Iterator[CancelToken]:
        """The token of one run."""
        timing = self._timing
        above = under or CancelToken()
        with above.child(within=timing.run, cause=RUN_HARD_TIMEOUT, grace=timing.grace) as token:
            with self._lock:
                self._runs.add(token)
                down = self._down
            if down is not None:
                token.cancel(down, timing.grace)
            try:
                yield token
            finally:
                with self._lock:
                    self._runs.discard(token)
