"""The cancel token: what the code of a step is told while it runs (docs/protocol.md, section 7).

It only tells. It stops nothing, and it is no permission to start: the answers to reserve and dispatch are.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from runs.worker.causes import (
    CANCELED_NO_CAUSE,
    DEADLINE_EXCEEDED,
    WORK_CLAIM_LOST,
    WORK_FINISHED,
    Cause,
)
from runs.worker.errors import Cancelled
from runs.worker.wire import Answer

log = logging.getLogger("runs.worker")


@dataclass(frozen=True, slots=True)
class Signal:
    """`level` is pause, stop or abort; `seq` the receipt behind it; times as the server writes them."""

    seq: int
    level: str
    cause: Cause
    original_cause: Cause | None
    at: str | None
    grace_until: str | None

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Signal:
        original = raw.get("original_cause")
        return cls(
            seq=raw["seq"],
            level=raw["level"],
            cause=Cause.read(raw.get("cause"), CANCELED_NO_CAUSE),
            original_cause=Cause.read(original, CANCELED_NO_CAUSE) if original else None,
            at=raw.get("at"),
            grace_until=raw.get("grace_until"),
        )


class Once:
    """Happens once, for good, with the first cause it is given; waited for, awaited, or called back."""

    def __init__(self) -> None:
        self.cause: Cause | None = None
        self._lock = threading.Lock()
        self._happened = threading.Event()
        self._callbacks: list[Callable[[Cause], None]] = []

    def happen(self, cause: Cause) -> bool:
        """Says whether this was the first time. Calls back from here."""
        with self._lock:
            if self.cause is not None:
                return False
            self.cause = cause
            callbacks, self._callbacks = self._callbacks, []
        self._happened.set()
        for callback in callbacks:
            try:
                callback(cause)
            except Exception:  # a listener's mistake must not end the heartbeat that carries the news
                log.exception("a callback of a cancel token failed")
        return True

    def wait(self, timeout: float | None) -> bool:
        return self._happened.wait(timeout)

    def call(self, callback: Callable[[Cause], None]) -> Callable[[], None]:
        with self._lock:
            known = self.cause
            if known is None:
                self._callbacks.append(callback)
        if known is not None:
            callback(known)

        def forget() -> None:
            with self._lock:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)

        return forget

    async def come(self) -> Cause:
        loop, came = asyncio.get_running_loop(), asyncio.Event()

        def wake(_: Cause) -> None:
            loop.call_soon_threadsafe(came.set)

        forget = self.call(wake)
        try:
            await came.wait()
        finally:
            forget()
        return self.cause or CANCELED_NO_CAUSE


class CancelToken:
    """Cancelled once, for good, with the first cause it was given. Safe to use from any thread.

    Poll it (`cancelled`, `raise_if_cancelled`), wait for it (`wait`), await it (`cause = await token`) or
    be called (`on_cancel`). A pause does not cancel it: `paused` is true while one lasts.

    A stop asks; after its grace it becomes an abort (`aborted`, `wait_abort`, `on_abort`): finish at once, or
    give up.

    `child()` makes one for a part of the work: it hears all that this one hears, and may be cancelled alone.
    Who knows Go: the token is the context, `child()` is `context.WithCancelCause`, `child(within=…)` is
    `WithTimeoutCause`, leaving its `with` block is the deferred cancel, and `cause_of(token)` is `Cause`.
    """

    def __init__(self) -> None:
        self._stop = Once()
        self._abort = Once()
        self._parent: CancelToken | None = None
        self._forget: list[Callable[[], None]] = []
        self._lost = False
        self._accepted = False
        self._signal: Signal | None = None

    # ── what the running code asks ──

    @property
    def cancelled(self) -> bool:
        return self._stop.cause is not None

    @property
    def cause(self) -> Cause | None:
        """Why, or None while it is not cancelled."""
        return self._stop.cause

    @property
    def accepted(self) -> bool:
        """True once the server has told of an accepted cancel; a worker's own stop is none."""
        return self._accepted or (self._parent is not None and self._parent.accepted)

    @property
    def lost(self) -> bool:
        """True once the claim is known to be somebody else's: nothing may be settled any more."""
        return self._lost or (self._parent is not None and self._parent.lost)

    @property
    def signal(self) -> Signal | None:
        """The signal in force, as last heard."""
        if self._signal is None and self._parent is not None:
            return self._parent.signal
        return self._signal

    @property
    def paused(self) -> bool:
        signal = self.signal
        return signal is not None and signal.level == "pause"

    @property
    def aborted(self) -> bool:
        """The grace of the stop has ended."""
        return self._abort.cause is not None

    def raise_if_cancelled(self) -> None:
        """Raises Cancelled with the cause."""
        if self.cause is not None:
            raise Cancelled(self.cause)

    def wait(self, timeout: float | None = None) -> bool:
        """Block until cancelled, or for `timeout` seconds; says whether it is cancelled."""
        return self._stop.wait(timeout)

    def wait_abort(self, timeout: float | None = None) -> bool:
        """Block until the grace has ended, or for `timeout` seconds; says whether it has."""
        return self._abort.wait(timeout)

    def __await__(self) -> Generator[Any, None, Cause]:
        return self._stop.come().__await__()

    def on_cancel(self, callback: Callable[[Cause], None]) -> Callable[[], None]:
        """Call back once, in the thread that learns of the cancel, or at once if it is known.

        Returns a function that takes the callback away again.
        """
        return self._stop.call(callback)

    def on_abort(self, callback: Callable[[Cause], None]) -> Callable[[], None]:
        """The same for the end of the grace; the cause is that of the cancel."""
        return self._abort.call(callback)

    # ── parts of the work ──

    def child(
        self, within: float | None = None, cause: Cause = DEADLINE_EXCEEDED, grace: float | None = None
    ) -> CancelToken:
        """A token under this one. `within`: cancelled with `cause` after so many seconds; `grace`: aborted
        so many seconds after that.

        Use it as `with token.child() as part:`; at the end of the block whatever still runs under it is told
        `work_finished`, and this token forgets it.
        """
        child = CancelToken()
        child._parent = self
        child._forget += [self.on_cancel(child.cancel), self.on_abort(child._abort_now)]
        child._after(within, lambda: child.cancel(cause, grace))
        return child

    def shield(self, within: float) -> CancelToken:
        """For a clean-up: a token that does not hear this one, with a deadline of its own. Not for effects:
        `step.dispatch()` heeds the step's token, shielded or not.
        """
        shielded = CancelToken()
        shielded._after(within, lambda: shielded.cancel(DEADLINE_EXCEEDED))
        return shielded

    def end(self) -> None:
        """The work under this token has ended."""
        for forget in self._forget:
            forget()
        self._stop.happen(WORK_FINISHED)

    def __enter__(self) -> CancelToken:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    # ── who tells it ──

    def cancel(self, cause: Cause, grace: float | None = None) -> None:
        """Cancel it and its children here; tells no server. The first cause stands. `grace`: seconds until
        it is an abort.
        """
        if self._stop.happen(cause):
            self._after(grace, lambda: self._abort_now(cause))

    def observe(self, answer: Answer) -> None:
        """Take in what an answer says to the running code: a lost claim, a cancel, or the signal in force."""
        match answer.status:
            case "claim_lost":
                self._lost = True
                self.cancel(Cause.read(answer.get("cause"), WORK_CLAIM_LOST))
            case "cancelled":
                self._accepted = True
                self.cancel(Cause.read(answer.get("cause"), CANCELED_NO_CAUSE))
            case _:
                raw = answer.get("signal")
                self._signal = signal = Signal.read(raw) if raw else None
                if signal is not None and signal.level != "pause":
                    self._accepted = True
                    self.cancel(signal.original_cause or signal.cause)
                if signal is not None and signal.level == "abort":
                    self._abort_now(signal.cause)

    def _abort_now(self, cause: Cause) -> None:
        self.cancel(cause)
        self._abort.happen(self.cause or cause)

    def _after(self, seconds: float | None, then: Callable[[], None]) -> None:
        if seconds is None:
            return
        timer = threading.Timer(seconds, then)
        timer.daemon = True
        timer.start()
        self._forget.append(timer.cancel)
