"""Sends requests over HTTP and blocks for the reply; the only file that knows httpx. Tries nothing twice."""

from __future__ import annotations

import httpx

from runs.worker.errors import NoAnswer
from runs.worker.wire import Answer, Send, read


class Http:
    """One connection pool, safe to share between threads. `timeout`: seconds for each stage of a request."""

    def __init__(self, url: str, token: str, timeout: float) -> None:
        headers = {"Authorization": f"Bearer {token.strip()}", "Accept": "application/json"}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=timeout)

    def send(self, ask: Send) -> Answer:
        """Raises NoAnswer where it may or may not have been carried out, Problem where it was refused."""
        try:
            reply = self._client.request(ask.method, ask.path, json=ask.body or None)
        except httpx.UnsupportedProtocol:
            raise
        except (httpx.TransportError, httpx.DecodingError) as fault:
            raise NoAnswer(f"{type(fault).__name__}: {fault}") from fault
        return read(reply.status_code, reply.headers, reply.content)

    def close(self) -> None:
        self._client.close()
