"""Threads under a token: none is started after the cancel, and their end is waited for.

Python can't stop a thread: each is given a token of its own to poll. Bound: `grace` seconds after the cancel;
those that still run then are named, and not waited for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from runs.worker import Cancelled, CancelToken, SdkError, cause_of

P = ParamSpec("P")
T = TypeVar("T")


class StillRunning(SdkError):
    """These threads did not heed their token in time."""


class Threads:
    """A group, as asyncio's TaskGroup is: the block ends when all have, and one that fails stops the others.

        with Threads(step.cancel, grace=5) as threads:
            found = threads.start(search, "here")      # search(token, "here"), in a thread

    Raises Cancelled after a cancel, an ExceptionGroup where threads failed, StillRunning.
    """

    def __init__(self, token: CancelToken, grace: float = 5.0) -> None:
        self._token = token.child()
        self._grace = grace
        self._started: dict[Future[Any], str] = {}

    def start(
        self, work: Callable[Concatenate[CancelToken, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> Future[T]:
        """Raises Cancelled where nothing may start any more."""
        self._token.raise_if_cancelled()
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(work(self._token, *args, **kwargs))
            except BaseException as error:
                future.set_exception(error)
                self._token.cancel(cause_of(error))

        self._started[future] = getattr(work, "__name__", repr(work))
        threading.Thread(target=run, name=f"{self._started[future]} of cancelboard", daemon=True).start()
        return future

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._token.cancel(cause_of(error))
        running = self._wait()
        cause = self._token.cause
        self._token.end()
        if running:
            raise StillRunning(f"after {self._grace} s: {', '.join(running)}") from error
        if error is not None:
            return
        failed = [future.exception() for future in self._started]
        failures = [each for each in failed if each is not None and not isinstance(each, Cancelled)]
        if failures:
            raise BaseExceptionGroup("threads failed", failures)
        if cause is not None:
            raise Cancelled(cause)

    def _wait(self) -> list[str]:
        """Until all have ended; after a cancel, `grace` seconds. Names those that have not."""
        told: Future[None] = Future()
        forget = self._token.on_cancel(lambda cause: told.set_result(None))
        running = {future for future in self._started if not future.done()}
        while running and not told.done():
            running = wait({*running, told}, return_when=FIRST_COMPLETED).not_done - {told}
        forget()
        return [self._started[future] for future in wait(running, self._grace).not_done]
