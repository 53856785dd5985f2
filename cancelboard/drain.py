"""A stop that answers first. Daphne alone drops, at SIGTERM, whatever it is just answering.

At the first SIGTERM or Ctrl-C: listen no more; tell every socket 1012 ("service restart": its page comes
back) and end every event stream; wait for the requests in flight, at most PATIENCE seconds; then stop.
A second signal stops at once. Another server than daphne (uvicorn) drains by itself: there this only counts.
"""

import asyncio
import logging
import os
import signal
from typing import Any

import twisted.internet.reactor
from twisted.internet import tcp, unix

reactor: Any = twisted.internet.reactor  # an object that poses as a module
logger = logging.getLogger(__name__)

PATIENCE = 8.0  # seconds; process managers commonly kill after 10
LAST_WORDS = {
    "websocket": {"type": "websocket.close", "code": 1012},
    "stream": {"type": "http.response.body", "body": b"", "more_body": False},
}


class Drain:
    """The outermost ASGI application: it knows what is in flight."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.in_flight: set[object] = set()
        self.endless: dict[object, tuple[Any, dict[str, Any]]] = {}
        self.all_answered = asyncio.Event()
        self.stopping = False
        reactor.callLater(0, self.take_signals)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        me = object()
        self.in_flight.add(me)
        if scope["type"] == "websocket":
            self.endless[me] = (send, LAST_WORDS["websocket"])

        async def watched(message: Any) -> None:
            if message["type"] == "http.response.start":
                if is_event_stream(message):
                    self.endless[me] = (send, LAST_WORDS["stream"])
                if self.stopping:  # else a client that keeps its connection could keep us for ever
                    message = message | {"headers": [*message.get("headers", ()), (b"Connection", b"close")]}
            await send(message)
            if self.stopping and me in self.endless and message["type"] == "http.response.start":
                await send(LAST_WORDS["stream"])  # it began after the others were told

        try:
            await self.application(scope, receive, watched)
        finally:
            self.endless.pop(me, None)
            self.in_flight.discard(me)
            if not self.in_flight:
                self.all_answered.set()

    def take_signals(self) -> None:
        """Once the loop runs: replaces daphne's handlers, which stop at once."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            if (
                signal.getsignal(number) != signal.SIG_IGN
            ):  # a shell's background job: its shell tells it to stop
                signal.signal(number, lambda *_: loop.call_soon_threadsafe(self.stop))

    def stop(self) -> None:
        if self.stopping:
            reactor.stop()
            return
        self.stopping = True
        self.task = asyncio.ensure_future(self.drain())

    async def drain(self) -> None:
        logger.info("stopping: %d in flight", len(self.in_flight))
        for reader in reactor.getReaders():
            if isinstance(reader, (tcp.Port, unix.Port)):
                reader.stopListening()  # type: ignore[no-untyped-call]
        last = [send(last_word) for send, last_word in self.endless.values()]
        for failure in await asyncio.gather(*last, return_exceptions=True):
            if failure:
                logger.error("a socket could not be closed", exc_info=failure)
        try:
            async with asyncio.timeout(PATIENCE):
                await self.answered()
        except TimeoutError:
            logger.error("stopped with %d unanswered", len(self.in_flight))
            # Their threads can't be ended, and a usual exit would wait for them. The database rolls back.
            os._exit(1)
        reactor.stop()

    async def answered(self) -> None:
        """Returns when nothing is in flight and every answer has left this process."""
        while self.in_flight:
            self.all_answered.clear()
            await self.all_answered.wait()
        while reactor.getWriters():
            await asyncio.sleep(0.01)


def is_event_stream(start: dict[str, Any]) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream")
        for name, value in start.get("headers", ())
    )
