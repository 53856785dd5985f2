"""The cancel token: what the code of a step is told while it runs (docs/protocol.md, section 7).

It only tells. It stops nothing, and it is no permission to start: the answers to reserve and dispatch are.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

from runs.worker.causes import CANCELED_NO_CAUSE, WORK_CLAIM_LOST, Cause
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


class CancelToken:
    """Cancelled once, for good, with the first cause it was given. Safe to use from any thread.

    Poll it (`cancelled`, `raise_if_cancelled`), wait for it (`wait`), await it (`cause = await token`) or
    be called (`on_cancel`). A pause does not cancel it: `paused` is true while one lasts.

    A stop asks; after its grace it becomes an abort (`aborted`, `wait_abort`): finish at once, or give up.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fired = threading.Event()
        self._aborted = threading.Event()
        self._cause: Cause | None = None
        self._lost = False
        self._signal: Signal | None = None
        self._callbacks: list[Callable[[Cause], None]] = []

    @property
    def cancelled(self) -> bool:
        return self._fired.is_set()

    @property
    def cause(self) -> Cause | None:
        """Why, or None while it is not cancelled."""
        return self._cause

    @property
    def lost(self) -> bool:
        """True once the claim is known to be somebody else's: nothing may be settled any more."""
        return self._lost

    @property
    def signal(self) -> Signal | None:
        """The signal in force, as last heard."""
        return self._signal

    @property
    def paused(self) -> bool:
        return self._signal is not None and self._signal.level == "pause"

    @property
    def aborted(self) -> bool:
        """The grace of the stop has ended."""
        return self._aborted.is_set()

    def wait_abort(self, timeout: float | None = None) -> bool:
        """Block until the grace has ended, or for `timeout` seconds; says whether it has."""
        return self._aborted.wait(timeout)

    def raise_if_cancelled(self) -> None:
        """Raises Cancelled with the cause."""
        if self._cause is not None:
            raise Cancelled(self._cause)

    def wait(self, timeout: float | None = None) -> bool:
        """Block until cancelled, or for `timeout` seconds; says whether it is cancelled."""
        return self._fired.wait(timeout)

    def __await__(self) -> Generator[Any, None, Cause]:
        return self._cancellation().__await__()

    async def _cancellation(self) -> Cause:
        loop, happened = asyncio.get_running_loop(), asyncio.Event()

        def wake(_: Cause) -> None:
            loop.call_soon_threadsafe(happened.set)

        forget = self.on_cancel(wake)
        try:
            await happened.wait()
        finally:
            forget()
        return self._cause or CANCELED_NO_CAUSE

    def on_cancel(self, callback: Callable[[Cause], None]) -> Callable[[], None]:
        """Call back once, in the thread that learns of the cancel, or at once if it is known.

        Returns a function that takes the callback away again.
        """
        with self._lock:
            known = self._cause
            if known is None:
                self._callbacks.append(callback)
        if known is not None:
            callback(known)

        def forget() -> None:
            with self._lock:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)

        return forget

    def cancel(self, cause: Cause) -> None:
        """Cancel it here; tells no server. The first cause stands."""
        with self._lock:
            if self._cause is not None:
                return
            self._cause = cause
            callbacks, self._callbacks = self._callbacks, []
        self._fired.set()
        for callback in callbacks:
            try:
                callback(cause)
            except Exception:  # a listener's mistake must not end the heartbeat that carries the news
                log.exception("a callback of on_cancel failed")

    def observe(self, answer: Answer) -> None:
        """Take in what an answer says to the running code: a lost claim, a cancel, or the signal in force."""
        match answer.status:
            case "claim_lost":
                self._lost = True
                self.cancel(Cause.read(answer.get("cause"), WORK_CLAIM_LOST))
            case "cancelled":
                self.cancel(Cause.read(answer.get("cause"), CANCELED_NO_CAUSE))
            case _:
                raw = answer.get("signal")
                self._signal = signal = Signal.read(raw) if raw else None
                if signal is not None and signal.level != "pause":
                    self.cancel(signal.original_cause or signal.cause)
                if signal is not None and signal.level == "abort":
                    self._aborted.set()
