"""From which address a request came, for what is kept of who did what. Empty outside of requests: the shell,
the loops. Behind a proxy it is what the server was told (docs/operations.md); no header is believed here."""

from contextvars import ContextVar
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.utils.decorators import sync_and_async_middleware

ADDRESS: ContextVar[str] = ContextVar("address", default="")


@sync_and_async_middleware
def kept_address(get_response: Any) -> Any:
    """Django middleware, in either colour."""
    if iscoroutinefunction(get_response):

        async def answer(request: HttpRequest) -> Any:
            before = ADDRESS.set(request.META.get("REMOTE_ADDR", ""))
            try:
                return await get_response(request)
            finally:
                ADDRESS.reset(before)

    else:

        def answer(request: HttpRequest) -> Any:  # type: ignore[misc]
            before = ADDRESS.set(request.META.get("REMOTE_ADDR", ""))
            try:
                return get_response(request)
            finally:
                ADDRESS.reset(before)

    return answer
