"""A name for each request, in every log line that it causes and in its answer's `X-Request-ID`.

A proxy's own is taken over where it is a plain word; anything else would be a caller's text in the log.
"""

import logging
import re
import secrets
from contextvars import ContextVar
from typing import Any

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="-")
PLAIN = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Named(logging.Filter):
    """Puts `request_id` on each record; `-` outside of requests."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = REQUEST_ID.get()
        return True


def with_request_id(application: Any) -> Any:
    """ASGI: HTTP requests and sockets alike; only an HTTP answer has a header to say it in."""

    async def named(scope: Any, receive: Any, send: Any) -> None:
        given = dict(scope.get("headers", ())).get(b"x-request-id", b"")
        name = given if PLAIN.fullmatch(given) else secrets.token_hex(8).encode()
        REQUEST_ID.set(name.decode())  # this task's own: the server makes one for each request

        async def told(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = message | {"headers": [*message.get("headers", ()), (b"x-request-id", name)]}
            await send(message)

        await application(scope, receive, told)

    return named
