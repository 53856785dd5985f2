"""Sends requests over HTTP, blocking or awaited; the only file that knows httpx. Tries nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from runs.worker.errors import NoAnswer
from runs.worker.wire import Answer, Send, read


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token.strip()}", "Accept": "application/json"}


@contextmanager
def _faults() -> Iterator[None]:
    """Raises NoAnswer where a request may or may not have been carried out."""
    try:
        yield
    except httpx.UnsupportedProtocol:
        raise
    except (httpx.TransportError, httpx.DecodingError) as fault:
        raise NoAnswer(f"{type(fault).__name__}: {fault}") from fault


class Http:
    """One connection pool, safe to share between threads. `timeout`: seconds for each stage of a request.

    `send` raises NoAnswer, and Problem for a refusal.
    """

    def __init__(self, url: str, token: str, timeout: float) -> None:
        self._client = httpx.Client(base_url=url, headers=_headers(token), timeout=timeout)

    def send(self, ask: Send) -> Answer:
        with _faults():
            reply = self._client.request(ask.method, ask.path, json=ask.body or None)
        return read(reply.status_code, reply.headers, reply.content)

    def close(self) -> None:
        self._client.close()


class AsyncHttp:
    """The same on an event loop."""

    def __init__(self, url: str, token: str, timeout: float) -> None:
        self._client = httpx.AsyncClient(base_url=url, headers=_headers(token), timeout=timeout)

    async def send(self, ask: Send) -> Answer:
        with _faults():
            reply = await self._client.request(ask.method, ask.path, json=ask.body or None)
        return read(reply.status_code, reply.headers, reply.content)

    async def close(self) -> None:
        await self._client.aclose()
