"""The headers every page carries: what a browser may load, and what it may tell others.

Not HTTPS (Django's SecurityMiddleware) and not the static files (`static.py` sets theirs).
"""

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

#: Nothing inline, nothing evaluated, nothing from elsewhere, in nobody's frame.
POLICY = "; ".join(
    (
        "default-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "object-src 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


def strict(response: HttpResponseBase) -> HttpResponseBase:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return response


@sync_and_async_middleware
def strict_headers(get_response):  # type: ignore[no-untyped-def]
    """Django middleware, in either colour: a sync-only one would cost a thread hop under ASGI."""
    if iscoroutinefunction(get_response):

        async def answer(request: HttpRequest) -> HttpResponseBase:
            return strict(await get_response(request))

    else:

        def answer(request: HttpRequest) -> HttpResponseBase:  # type: ignore[misc]
            return strict(get_response(request))

    return answer
