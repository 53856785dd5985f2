"""The real application with two doors more, for tests of the server itself: a view that waits until a file
appears, and a socket and an event stream that never end.
"""

import os
import time
from pathlib import Path
from typing import Any

from channels.routing import ProtocolTypeRouter
from django.http import HttpRequest, HttpResponse
from django.urls import path

from cancelboard import asgi, urls
from cancelboard.drain import Drain

GATE = Path(os.environ["TEST_GATE"])


def slow(request: HttpRequest) -> HttpResponse:
    """Says that it has begun (a file), and answers once the gate is open."""
    GATE.with_suffix(".begun").touch()
    while not GATE.exists():
        time.sleep(0.01)
    return HttpResponse("answered" * 100_000)


urls.urlpatterns.insert(0, path("slow/", slow))


async def stream(scope: Any, receive: Any, send: Any) -> None:
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"Content-Type", b"text/event-stream")]}
    )
    await send({"type": "http.response.body", "body": b": here\n\n", "more_body": True})
    while (await receive())["type"] != "http.disconnect":
        pass


async def socket(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    while (await receive())["type"] != "websocket.disconnect":
        pass


async def http(scope: Any, receive: Any, send: Any) -> None:
    await (stream if scope["path"] == "/stream/" else asgi.pages)(scope, receive, send)


application = Drain(ProtocolTypeRouter({"http": http, "websocket": socket}))
