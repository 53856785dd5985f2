"""A worker's socket: the signal, as soon as it is committed (PROTOCOL section 7). It only brings forward what
the next heartbeat would be answered: a lost socket costs time, never the signal.

It hears `{"type": "watch", "claims": [{"job_id", "claim"}]}`, each list in place of the one before, and tells
`{"type": "signal", "job_id", "signal"}` and `{"type": "claim_lost", "job_id", "cause"}`: for a claim that is
new in the list where there is something to tell, and then whatever changes. `{"type": "drill", "id"}`, the
canary of `manage.py drill`, is to be said back.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.db import Error

from runs import commands, drills, ledger, live
from runs.errors import Unauthenticated
from runs.permissions import Actor
from runs.queries import signals

from . import who
from .hub import FORBIDDEN, JUDGED_AGAIN, TRY_LATER, hub

logger = logging.getLogger(__name__)

MOST_CLAIMS = 1000  #: that one process may watch
LONGEST = 512 * 1024  #: characters of a message: room for as many claims
NOTHING = {"signal": None}


class WorkerConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]
    """One worker process, for all its claims."""

    async def connect(self) -> None:
        self.claims: dict[str, str] = {}
        self.told: dict[str, signals.Told] = {}
        self.stale: set[str] = set()  #: jobs to look at again
        self.awake = asyncio.Event()
        self.rights_in_doubt = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []
        self.tenant_id: int | None = None
        self.user_id: int | None = None
        try:
            actor = await database_sync_to_async(self.actor)()
        except Unauthenticated:
            await self.close()  # before it is accepted: the handshake is answered 403
            return
        if not hub.has_room_for(actor.user_id, actor.tenant_id):
            await self.accept()
            await self.close(TRY_LATER)
            return
        self.tenant_id, self.user_id = actor.tenant_id, actor.user_id or 0
        hub.join(self, actor.tenant_id)
        canaries.join(self)
        await self.accept()
        tasks = (self.pass_on, self.keep_judging)
        self.tasks = [asyncio.create_task(self.ended_by(task)) for task in tasks]

    async def disconnect(self, code: int) -> None:
        """A fact about a connection. It cancels nothing but these tasks."""
        if self.tenant_id is not None:
            hub.leave(self, self.tenant_id)
            canaries.leave(self)
        for task in self.tasks:
            task.cancel()

    async def ended_by(self, task: Callable[[], Awaitable[None]]) -> None:
        """The token has ended: it stays closed. Without one of its tasks it only looks alive: come back."""
        try:
            await task()
        except Unauthenticated:
            await self.close(FORBIDDEN)
        except Exception:
            logger.exception("a worker socket's task failed")
            await self.close(TRY_LATER)

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any
    ) -> None:
        try:
            await super().receive(
                text_data=text_data and text_data[:LONGEST], bytes_data=bytes_data, **kwargs
            )
        except (ValueError, RecursionError):
            await self.close(TRY_LATER)

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        """Raises ValueError for what is none of the two messages."""
        match content:
            case {"type": "watch", "claims": list(claims)} if len(claims) <= MOST_CLAIMS:
                self.watch(dict(pair(claim) for claim in claims))
            case {"type": "drill", "id": str(drill_id)}:
                await database_sync_to_async(drills.heard)(self.user_id, drill_id)
            case _:
                raise ValueError("no message of a worker's")

    def watch(self, claims: dict[str, str]) -> None:
        same = {job for job, claim in claims.items() if self.claims.get(job) == claim}
        self.claims = claims
        self.told = {job: told for job, told in self.told.items() if job in same}
        self.stale = (self.stale & same) | (claims.keys() - same)
        self.awake.set()

    def nudged(self, nudge: live.Nudge) -> None:
        if nudge.job_id in self.claims:
            self.stale.add(nudge.job_id)
            self.awake.set()

    async def pass_on(self) -> None:
        await hub.ready()
        while True:
            await self.awake.wait()
            self.awake.clear()
            asked = {job: self.claims[job] for job in self.stale & self.claims.keys()}
            self.stale = set()
            offered = []
            for job, told in (await self.look(asked)).items():
                if self.claims.get(job) == asked[job] and told != self.told.get(job, NOTHING):
                    self.told[job] = told
                    await self.send_json(message(job, told))
                    offered += [(job, signal["seq"])] if (signal := told.get("signal")) else []
            if offered:
                await self.remember(offered)

    async def keep_judging(self) -> None:
        """The token: once a minute, and at once when this process has changed rights. What may be told of
        which job is judged each time that something is."""
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.rights_in_doubt.wait(), JUDGED_AGAIN)
            self.rights_in_doubt.clear()
            await database_sync_to_async(self.actor)()

    def actor(self) -> Actor:
        return who.of_bearer(dict(self.scope["headers"]))

    @database_sync_to_async  # type: ignore[untyped-decorator]
    def remember(self, offered: list[tuple[str, int]]) -> None:
        assert self.tenant_id is not None
        for job, seq in offered:
            commands.offered(self.tenant_id, job, seq, "socket", ledger.clock())

    @database_sync_to_async  # type: ignore[untyped-decorator]
    def look(self, claims: dict[str, str]) -> dict[str, signals.Told]:
        return signals.of_claims(self.actor(), claims, ledger.clock())


def pair(claim: Any) -> tuple[str, str]:
    """Job id and token. Raises ValueError."""
    match claim:
        case {"job_id": str(job_id), "claim": str(token)} if "\0" not in job_id:
            return job_id, token
    raise ValueError("no claim")


def message(job: str, told: signals.Told) -> dict[str, Any]:
    if "lost" in told:
        return {"type": "claim_lost", "job_id": job, "cause": told["lost"]}
    return {"type": "signal", "job_id": job, "signal": told["signal"]}


class Canaries:
    """Looks, once a second while there are sockets in this process, for drills of their accounts."""

    def __init__(self) -> None:
        self.sockets: set[WorkerConsumer] = set()
        self.task: asyncio.Task[None] | None = None

    def join(self, socket: WorkerConsumer) -> None:
        self.sockets.add(socket)
        if self.task is None:
            self.task = asyncio.create_task(self.look())

    def leave(self, socket: WorkerConsumer) -> None:
        self.sockets.discard(socket)
        if not self.sockets and self.task is not None:
            self.task.cancel()
            self.task = None

    async def look(self) -> None:
        while True:
            await asyncio.sleep(drills.EVERY)
            accounts = {socket.user_id for socket in self.sockets}
            try:
                taken = await database_sync_to_async(drills.take)(accounts)
            except Error as error:
                logger.warning("drills could not be read: %s", error)
                continue
            for user_id, drill_id in taken:
                for socket in [socket for socket in self.sockets if socket.user_id == user_id]:
                    await socket.send_json({"type": "drill", "id": drill_id})


canaries = Canaries()
