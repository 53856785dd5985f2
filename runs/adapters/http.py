"""An HTTP call, streamed or whole, that ends when it is told to: its connection is shut under it.

Bound: at once, also while it waits for the first word; while it still connects, the time-out for that.
On an event loop none of this is needed: use `stopping` (tasks.py) around any client.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal

import httpx

from runs.worker import Cancelled, CancelToken, Cause

#: A stop asks, and an abort ends (docs/protocol.md, section 7).
When = Literal["stop", "abort"]


@contextmanager
def stream(
    token: CancelToken,
    method: str,
    url: str,
    *,
    at: When = "stop",
    timeout: float | httpx.Timeout | None = 60.0,
    verify: ssl.SSLContext | bool = True,
    **options: Any,
) -> Iterator[httpx.Response]:
    """`httpx.stream`, on a connection of its own. Raises Cancelled where the answer was not whole by then."""
    token.raise_if_cancelled()
    line = _Line()
    forget = (token.on_cancel if at == "stop" else token.on_abort)(line.cut)
    try:
        with (
            httpx.Client(timeout=timeout, verify=verify) as client,
            client.stream(method, url, extensions={"trace": line.trace}, **options) as response,
        ):
            line.response = response
            yield response
    except httpx.TransportError as fault:
        line.raise_if_cut(fault)
        raise
    finally:
        forget()
    line.raise_if_cut()


def request(
    token: CancelToken, method: str, url: str, *, at: When = "abort", **options: Any
) -> httpx.Response:
    """`httpx.request` for a tool with an effect: a stop lets it finish, an abort does not. What was sent and
    has no answer is unknown: let the Cancelled fly.
    """
    with stream(token, method, url, at=at, **options) as response:
        response.read()
    return response


class _Line:
    """The connection of one call, as httpx's trace tells of it."""

    def __init__(self) -> None:
        self.response: httpx.Response | None = None
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._cause: Cause | None = None

    def trace(self, event: str, info: dict[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
                if self._cause is not None:
                    self._shut()

    def cut(self, cause: Cause) -> None:
        with self._lock:
            if self.response is None or not self.response.is_closed:
                self._cause = cause
                self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            with suppress(OSError):  # it has ended already
                # Of the plain socket below TLS: the reading thread keeps its own state, and reads an end.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def raise_if_cut(self, fault: Exception | None = None) -> None:
        if self._cause is not None:
            raise Cancelled(self._cause) from fault
