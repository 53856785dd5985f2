"""`GET /api/v1/jobs/{id}/events`: a job's receipts as server-sent events, one each, as they are committed.

`id:` is the receipt's number: whoever comes back with `Last-Event-ID` (or `?after=`) misses nothing and gets
nothing twice. The request is judged by the API itself, as every other read; where that answers 200, the
stream goes on from there. It ends when the right to see the job does, with an event `end` that says why.
"""

import asyncio
import contextlib
import json
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings
from django.http import parse_cookie

from runs import live, readings
from runs.errors import CancelboardError, TooMany
from runs.permissions import Actor
from runs.queries import receipts

from . import who
from .hub import SIGN_OF_LIFE, hub

PAGE = 100  #: receipts read at once


class Events:
    """An ASGI application. `pages` answers the request: a refusal as it is, or the head of the stream."""

    def __init__(self, pages: Any) -> None:
        self.pages = pages

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        begun: list[Any] = []
        gone = asyncio.Event()

        async def heard() -> Any:
            """A leave is told once: whoever hears it first, the stream must know of it."""
            message = await receive()
            if message["type"] == "http.disconnect":
                gone.set()
            return message

        async def judged(message: Any) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                begun.append(message)
            if not begun:
                await send(message)

        await self.pages(scope, heard, judged)
        if gone.is_set():
            return
        if begun and scope["method"] == "HEAD":
            kept = [header for header in begun[0]["headers"] if header[0] != b"X-After"]
            await send(begun[0] | {"headers": kept})
            await send({"type": "http.response.body", "body": b""})
        elif begun:
            await Stream(scope, send, begun[0]).run(heard)


class Stream:
    """One reader."""

    def __init__(self, scope: Any, send: Any, start: Any) -> None:
        headers = dict(start["headers"])
        self.after = int(headers.pop(b"X-After"))
        del headers[b"Content-Length"]
        self.scope, self.send, self.start = scope, send, start | {"headers": [*headers.items()]}
        self.job_id: str = scope["url_route"]["kwargs"]["job_id"]
        self.awake = asyncio.Event()
        self.rights_in_doubt = self.awake
        self.user_id: int | None = None

    def nudged(self, nudge: live.Nudge) -> None:
        if nudge.job_id == self.job_id:
            self.awake.set()

    async def run(self, receive: Any) -> None:
        telling = asyncio.ensure_future(self.tell())
        leaving = asyncio.ensure_future(self.left(receive))
        done, _ = await asyncio.wait((telling, leaving), return_when=asyncio.FIRST_COMPLETED)
        for task in (telling, leaving):
            task.cancel()
        await asyncio.gather(telling, leaving, return_exceptions=True)
        if telling in done:
            telling.result()

    async def left(self, receive: Any) -> None:
        """The reader is gone: a fact about a connection, which changes nothing."""
        while (await receive())["type"] != "http.disconnect":
            pass

    async def tell(self) -> None:
        actor = await database_sync_to_async(self.actor)()
        tenant_id, self.user_id = actor.tenant_id, actor.user_id
        room = hub.has_room_for(self.user_id, tenant_id)
        hub.join(self, tenant_id)
        try:
            await self.send(self.start)
            if not room:
                raise TooMany("Too many streams and sockets by this principal.", retry_after=1)
            await self.say(b": here\n\n")
            await hub.ready()
            await self.pass_on()
        except CancelboardError as ended:
            await self.say(f"event: end\ndata: {json.dumps({'code': ended.code})}\n\n".encode())
            await self.send({"type": "http.response.body", "body": b""})
        finally:
            hub.leave(self, tenant_id)

    async def pass_on(self) -> None:
        """Raises CancelboardError when the right has ended."""
        while True:
            self.awake.clear()  # before the look: what is committed after it wakes us again
            found = await database_sync_to_async(self.look)()
            for receipt in found["receipts"]:
                text = json.dumps(receipt, ensure_ascii=False)
                await self.say(f"id: {receipt['seq']}\ndata: {text}\n\n".encode())
                self.after = receipt["seq"]
            if found["next_after"] is None:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.awake.wait(), SIGN_OF_LIFE)
                    continue
                await self.say(b": here\n\n")

    def actor(self) -> Actor:
        headers = dict(self.scope["headers"])
        if b"authorization" in headers:
            return who.of_bearer(headers)
        cookies = parse_cookie(headers.get(b"cookie", b"").decode("latin1"))
        return who.of_session(cookies.get(settings.SESSION_COOKIE_NAME))

    def look(self) -> dict[str, Any]:
        """The next receipts, where they may still be seen: judged each time, at least every ten seconds."""
        actor = self.actor()
        found = receipts.of_job(actor, self.job_id, self.after, PAGE)
        readings.of_evidence(actor.tenant_id, actor.user_id, self.job_id, found["receipts"])
        return found

    async def say(self, body: bytes) -> None:
        await self.send({"type": "http.response.body", "body": body, "more_body": True})
