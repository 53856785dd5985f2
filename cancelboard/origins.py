"""Which pages may open a socket: our own, or one of CSRF_TRUSTED_ORIGINS. Full origins, never host names.

Not for workers: they send no Origin, and a bearer token instead of a cookie.
"""

from typing import Any

from channels.security.websocket import OriginValidator
from django.conf import settings
from django.http.request import split_domain_port, validate_host


def own_origins(headers: list[tuple[bytes, bytes]]) -> list[str]:
    """The origin of this request's Host header, if ALLOWED_HOSTS has it; none otherwise. As Django's CSRF."""
    host = dict(headers).get(b"host", b"").decode("latin1")
    domain, _port = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return []
    return [f"{'https' if settings.CANCELBOARD_HTTPS else 'http'}://{host}"]


def same_origin(application: Any) -> Any:
    """An ASGI application that refuses the sockets of other people's pages."""

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        allowed = own_origins(scope["headers"]) + settings.CSRF_TRUSTED_ORIGINS
        await OriginValidator(application, allowed)(scope, receive, send)

    return guarded
