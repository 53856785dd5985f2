"""Whose a session or a token is, asked anew each time: it may have ended since the connection opened."""

from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest

from runs.errors import Unauthenticated
from runs.permissions import Actor, authenticate


def of_session(key: str | None) -> Actor:
    """Raises Unauthenticated."""
    request = HttpRequest()
    request.session = SessionStore(key)
    user = get_user(request)
    if not user.is_authenticated:
        raise Unauthenticated("The session has ended.")
    return Actor.of_user(user)


def of_bearer(headers: dict[bytes, bytes]) -> Actor:
    """By the header `Authorization`. Raises Unauthenticated."""
    return authenticate(headers.get(b"authorization", b"").decode("latin1"))
