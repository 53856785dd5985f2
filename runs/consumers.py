"""The sockets. They say "look again", never what is true: a page then asks the same view as at first.

The only async code beside the worker SDK. One hub in each server process: it owns the tailer, which runs
while a socket is open, and hands each nudge to the sockets of its tenant.
"""

import asyncio
import contextlib
from datetime import UTC, datetime
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest
from django.urls import path

from runs import ledger, live
from runs.models import Job
from runs.permissions import Actor, rights_changed, visible
from runs.tail import Tailer

MOST_JOBS = 200  #: that one page may watch
GATHER = 0.02  #: seconds in which further nudges join one message round
SIGN_OF_LIFE = 10.0
JUDGED_AGAIN = 60.0  #: seconds after which the right to see is asked again at the latest
FORBIDDEN = 4403  #: stays closed: the session has ended, or the right to see
TRY_LATER = 1013


class Hub:
    """The sockets of this process, by tenant, and the tailer that feeds them."""

    def __init__(self) -> None:
        self.sockets: dict[int, set[BoardConsumer]] = {}
        self.tailer: Tailer | None = None
        self._leave: Any = None

    def join(self, socket: "BoardConsumer", tenant_id: int) -> None:
        self.sockets.setdefault(tenant_id, set()).add(socket)
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
            rights_changed.connect(judge_again, weak=False, dispatch_uid="board sockets")

    def leave(self, socket: "BoardConsumer", tenant_id: int) -> None:
        sockets = self.sockets.get(tenant_id, set())
        sockets.discard(socket)
        if not sockets:
            self.sockets.pop(tenant_id, None)
        if not self.sockets and self.tailer is not None:
            self.tailer.stop()
            self._leave()
            rights_changed.disconnect(dispatch_uid="board sockets")
            self.tailer = None

    def rights_changed(self, tenant_id: int) -> None:
        """Rights were changed by this process: every socket of the tenant judges at once. Other processes'
        changes are seen within JUDGED_AGAIN seconds."""
        for socket in self.sockets.get(tenant_id, ()):
            socket.rights_in_doubt.set()

    def hand_out(self, nudge: live.Nudge) -> None:
        for socket in self.sockets.get(nudge.tenant_id, ()):
            socket.nudged(nudge)

    @property
    def read_at(self) -> datetime | None:
        return self.tailer.read_at if self.tailer else None


hub = Hub()


class BoardConsumer(AsyncJsonWebsocketConsumer):
    """One tab. It says which jobs it shows; it is told `{job, seq}` of those it may see, and `{counts}`."""

    async def connect(self) -> None:
        self.pending: dict[str, int] = {}
        self.counts = False
        self.wanted: list[str] = []
        self.allowed: frozenset[str] = frozenset()
        self.awake = asyncio.Event()
        self.rights_in_doubt = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []
        self.tenant_id: int | None = None
        await self.accept()
        user = self.scope["user"]
        if not user.is_authenticated:
            await self.close(FORBIDDEN)
            return
        self.tenant_id = user.tenant_id
        hub.join(self, user.tenant_id)
        self.tasks = [
            asyncio.create_task(task()) for task in (self.pass_on, self.stay_alive, self.keep_judging)
        ]

    async def disconnect(self, code: int) -> None:
        """A fact about a connection. It cancels nothing but these two tasks."""
        if self.tenant_id is not None:
            hub.leave(self, self.tenant_id)
        for task in self.tasks:
            task.cancel()

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        jobs = content.get("jobs") if isinstance(content, dict) else None
        if (
            not isinstance(jobs, list)
            or len(jobs) > MOST_JOBS
            or not all(isinstance(job, str) for job in jobs)
        ):
            await self.close(TRY_LATER)
            return
        self.wanted = jobs
        await self.judge()

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any
    ) -> None:
        try:
            await super().receive(text_data=text_data, bytes_data=bytes_data, **kwargs)
        except ValueError:
            await self.close(TRY_LATER)

    def nudged(self, nudge: live.Nudge) -> None:
        """Called by the hub, on the loop: never waits."""
        if nudge.job_id in self.allowed:
            self.pending[nudge.job_id] = max(nudge.seq, self.pending.get(nudge.job_id, 0))
        self.counts = True
        self.awake.set()

    async def pass_on(self) -> None:
        while True:
            await self.awake.wait()
            await asyncio.sleep(GATHER)
            self.awake.clear()
            pending, self.pending = self.pending, {}
            counts, self.counts = self.counts, False
            for job, seq in pending.items():
                await self.send_json({"job": job, "seq": seq})
            if counts:
                await self.send_json({"counts": True})

    async def stay_alive(self) -> None:
        """The time of the data, at once and every ten seconds."""
        while True:
            await self.send_json({"at": ledger.as_text(hub.read_at or datetime.now(UTC))})
            await asyncio.sleep(SIGN_OF_LIFE)

    async def keep_judging(self) -> None:
        """The right to see: once a minute, and at once when this process has changed rights."""
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.rights_in_doubt.wait(), JUDGED_AGAIN)
            self.rights_in_doubt.clear()
            await self.judge()

    async def judge(self) -> None:
        """Ask again who this is and which of the jobs it may see."""
        allowed = await self._may_see(self.wanted)
        if allowed is None:
            await self.close(FORBIDDEN)
            return
        self.allowed = allowed

    @database_sync_to_async
    def _may_see(self, jobs: list[str]) -> frozenset[str] | None:
        request = HttpRequest()
        request.session = SessionStore(self.scope["session"].session_key)
        user = get_user(request)  # reads the session anew: it may have ended since this socket opened
        if not user.is_authenticated:
            return None
        shown = visible(
            Job.objects.filter(tenant=user.tenant, job_id__in=jobs), Actor.of_user(user), ledger.clock()
        )
        return frozenset(shown.values_list("job_id", flat=True))


websocket_urlpatterns = [path("ws/board/", BoardConsumer.as_asgi())]
worker_urlpatterns: list[Any] = []
http_urlpatterns: list[Any] = []
