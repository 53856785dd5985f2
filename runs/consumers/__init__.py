"""Who may listen, and passing nudges on: sockets, event streams. The only async code beside the worker SDK.

hub.py      who listens in this process     who.py      whose a session or a token is, asked anew
board.py    a page's socket                 worker.py   a worker's socket: the signal
events.py   a job's receipts as server-sent events

That one of them ends is a fact about a connection. It cancels nothing, ever.
"""

from typing import Any

from django.urls import path

from .board import BoardConsumer
from .events import Events
from .worker import WorkerConsumer

websocket_urlpatterns = [path("ws/board/", BoardConsumer.as_asgi())]
worker_urlpatterns = [path("ws/worker/", WorkerConsumer.as_asgi())]


def http_urlpatterns(pages: Any) -> list[Any]:
    """`pages`: the application that judges a request before its stream begins."""
    return [path("api/v1/jobs/<job_id>/events", Events(pages))]  # type: ignore[arg-type]
