"""Who listens in this process: one hub in each server process owns the tailer, which runs while anybody
listens, and hands each nudge to the listeners of its tenant.
"""

import asyncio
import contextlib
from datetime import datetime
from typing import Any, Protocol

from runs import live
from runs.permissions import rights_changed
from runs.tail import Tailer

JUDGED_AGAIN = 60.0  #: seconds after which a listener's right is asked again at the latest
SIGN_OF_LIFE = 10.0  #: seconds
FORBIDDEN = 4403  #: a socket's code: it stays closed, the right to listen has ended
TRY_LATER = 1013
MOST_LISTENERS = 200  #: of one principal in this process: a person's tabs, a service account's workers


class Listener(Protocol):
    """A socket or an event stream. Both are called on the loop."""

    rights_in_doubt: asyncio.Event  #: set when rights of its tenant have changed
    user_id: int | None

    def nudged(self, nudge: live.Nudge) -> None:
        """A job of its tenant changed. Never waits."""


class Hub:
    """The listeners of this process, by tenant, and the tailer that feeds them."""

    def __init__(self) -> None:
        self.listeners: dict[int, set[Listener]] = {}
        self.tailer: Tailer | None = None
        self._leave: Any = None

    def join(self, listener: Listener, tenant_id: int) -> None:
        self.listeners.setdefault(tenant_id, set()).add(listener)
        if self.tailer is None:
            loop = asyncio.get_running_loop()

            def tell(nudge: live.Nudge) -> None:
                with contextlib.suppress(RuntimeError):  # the loop has ended: nobody is left to tell
                    loop.call_soon_threadsafe(self.hand_out, nudge)

            def judge_again(tenant_id: int, **_: Any) -> None:
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(self.rights_changed, tenant_id)

            self.tailer = Tailer(tell)
            self.tailer.start()
            self._leave = live.listen(tell)
            rights_changed.connect(judge_again, weak=False, dispatch_uid="listeners")

    def has_room_for(self, user_id: int | None, tenant_id: int) -> bool:
        """One principal can't take the memory of all."""
        theirs = sum(listener.user_id == user_id for listener in self.listeners.get(tenant_id, ()))
        return theirs < MOST_LISTENERS

    def leave(self, listener: Listener, tenant_id: int) -> None:
        others = self.listeners.get(tenant_id, set())
        others.discard(listener)
        if not others:
            self.listeners.pop(tenant_id, None)
        if not self.listeners and self.tailer is not None:
            self.tailer.stop()
            self._leave()
            rights_changed.disconnect(dispatch_uid="listeners")
            self.tailer = None

    def rights_changed(self, tenant_id: int) -> None:
        """Rights were changed by this process: every listener of the tenant judges at once. Other processes'
        changes are seen within JUDGED_AGAIN seconds."""
        for listener in self.listeners.get(tenant_id, ()):
            listener.rights_in_doubt.set()

    def hand_out(self, nudge: live.Nudge) -> None:
        for listener in self.listeners.get(nudge.tenant_id, ()):
            listener.nudged(nudge)

    async def ready(self) -> None:
        """Returns once whatever is committed from now on will be told (or it takes too long to say so)."""
        if self.tailer is not None and not self.tailer.began.is_set():
            await asyncio.to_thread(self.tailer.began.wait, 5.0)

    @property
    def read_at(self) -> datetime | None:
        return self.tailer.read_at if self.tailer else None


hub = Hub()
