"""A page's socket. It says "look again", never what is true: a page then asks the same view as at first."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from runs import ledger, live
from runs.errors import Unauthenticated
from runs.models import Job
from runs.permissions import visible

from . import who
from .hub import FORBIDDEN, JUDGED_AGAIN, SIGN_OF_LIFE, TRY_LATER, hub

logger = logging.getLogger(__name__)

MOST_JOBS = 200  #: that one page may watch
LONGEST = 64 * 1024  #: characters of a message: room for as many ids
GATHER = 0.02  #: seconds in which further nudges join one message round


class BoardConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]
    """One tab. It says which jobs it shows; it is told `{job, seq}` of those it may see, and `{counts}`;
    `beside` where the job changed without a receipt."""

    async def connect(self) -> None:
        self.pending: dict[str, int] = {}
        self.beside: set[str] = set()  #: pending ones whose number has not changed
        self.counts = False
        self.wanted: frozenset[str] = frozenset()
        self.allowed: frozenset[str] = frozenset()
        self.judging = asyncio.Lock()  # what comes meanwhile waits for the judgement
        self.awake = asyncio.Event()
        self.rights_in_doubt = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []
        self.tenant_id: int | None = None
        self.user_id: int | None = None
        await self.accept()
        user = self.scope["user"]
        if not user.is_authenticated:
            await self.close(FORBIDDEN)
            return
        if not hub.has_room_for(user.pk, user.tenant_id):
            await self.close(TRY_LATER)
            return
        self.tenant_id, self.user_id = user.tenant_id, user.pk
        hub.join(self, user.tenant_id)
        tasks = (self.pass_on, self.stay_alive, self.keep_judging)
        self.tasks = [asyncio.create_task(self.ended_by(task)) for task in tasks]

    async def disconnect(self, code: int) -> None:
        """A fact about a connection. It cancels nothing but these tasks."""
        if self.tenant_id is not None:
            hub.leave(self, self.tenant_id)
        for task in self.tasks:
            task.cancel()

    async def ended_by(self, task: Callable[[], Awaitable[None]]) -> None:
        """Without one of its tasks a socket only looks alive: the page is to come back."""
        try:
            await task()
        except Exception:
            logger.exception("a socket's task failed")
            await self.close(TRY_LATER)

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        jobs = content.get("jobs") if isinstance(content, dict) else None
        if (
            not isinstance(jobs, list)
            or len(jobs) > MOST_JOBS
            or not all(isinstance(job, str) and "\0" not in job for job in jobs)
        ):
            await self.close(TRY_LATER)
            return
        self.wanted = frozenset(jobs)
        await self.judge()

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any
    ) -> None:
        try:
            await super().receive(
                text_data=text_data and text_data[:LONGEST], bytes_data=bytes_data, **kwargs
            )
        except (ValueError, RecursionError):
            await self.close(TRY_LATER)

    def nudged(self, nudge: live.Nudge) -> None:
        """Called by the hub, on the loop: never waits."""
        if nudge.job_id in self.wanted:
            self.pending[nudge.job_id] = max(nudge.seq, self.pending.get(nudge.job_id, 0))
            if nudge.beside:
                self.beside.add(nudge.job_id)
        self.counts = self.counts or not nudge.beside
        self.awake.set()

    async def pass_on(self) -> None:
        while True:
            await self.awake.wait()
            await asyncio.sleep(GATHER)
            async with self.judging:
                self.awake.clear()
                pending, self.pending = self.pending, {}
                beside, self.beside = self.beside, set()
                counts, self.counts = self.counts, False
                told = [
                    {"job": job, "seq": seq} | ({"beside": True} if job in beside else {})
                    for job, seq in pending.items()
                    if job in self.allowed
                ]
            for message in told:
                await self.send_json(message)
            if counts:
                await self.send_json({"counts": True})

    async def stay_alive(self) -> None:
        """The time of the data, at once and every ten seconds."""
        await hub.ready()
        while True:
            if hub.read_at is not None:
                await self.send_json({"at": ledger.as_text(hub.read_at)})
            await asyncio.sleep(SIGN_OF_LIFE)

    async def keep_judging(self) -> None:
        """The right to see: once a minute, and at once when this process has changed rights."""
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.rights_in_doubt.wait(), JUDGED_AGAIN)
            self.rights_in_doubt.clear()
            await self.judge()

    async def judge(self) -> None:
        """Ask again who this is and which of the jobs it may see.

        A job that is new to the socket is told as it is now: the page may be older than its socket. One that
        may be seen no longer ends the socket, because the page still shows it.
        """
        async with self.judging:
            await hub.ready()
            seen = await self._may_see(self.wanted)
            if seen is None or self.allowed & self.wanted - seen.keys():
                await self.close(FORBIDDEN)
                return
            for job in seen.keys() - self.allowed:
                self.pending[job] = max(seen[job], self.pending.get(job, 0))
            self.allowed = frozenset(seen)
        if self.pending:
            self.awake.set()

    @database_sync_to_async  # type: ignore[untyped-decorator]
    def _may_see(self, jobs: frozenset[str]) -> dict[str, int] | None:
        """The newest receipt's number of each of these jobs; None where the session has ended."""
        try:
            actor = who.of_session(self.scope["session"].session_key)
        except Unauthenticated:
            return None
        named = Job.objects.filter(tenant_id=actor.tenant_id, job_id__in=jobs)
        shown = visible(named, actor, ledger.clock())
        return dict(shown.values_list("job_id", "seq"))
