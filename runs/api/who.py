"""Who is calling: a service account by its bearer token, or a person by their session, never mixed.

Who may do what is not asked here (runs.permissions, inside the command).
"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from ninja.security.base import AuthBase

from runs.errors import NotAllowed, WrongMediaType
from runs.permissions import Actor, authenticate

from . import rate

FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


class Request(HttpRequest):
    """A request that was let in."""

    auth: Actor


class Csrf(CsrfViewMiddleware):
    """Django's check, which says why not instead of rendering a page."""

    def _reject(self, request: HttpRequest, reason: str) -> Any:
        return reason


class Bearer(AuthBase):
    """`Authorization: Bearer cb_…`: a service account of one tenant."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __call__(self, request: HttpRequest) -> Actor | None:
        """None without the header; with it nothing else counts. Raises Unauthenticated, TooMany."""
        header = request.headers.get("Authorization")
        return None if header is None else _counted(authenticate(header))


class Session(AuthBase):
    """A signed-in person's cookie; a command also needs the CSRF token, in the header `X-CSRFToken`."""

    openapi_type = "apiKey"
    openapi_in = "cookie"
    openapi_name = "sessionid"

    def __call__(self, request: HttpRequest) -> Actor | None:
        """None for nobody. Raises NotAllowed (`csrf`), TooMany; WrongMediaType before a form is parsed."""
        if not request.user.is_authenticated:
            return None
        if request.content_type in FORMS:
            raise WrongMediaType("The body must be application/json.")
        csrf = Csrf(lambda _request: None)  # type: ignore[arg-type]
        csrf.process_request(request)
        if csrf.process_view(request, _nothing_exempt, (), {}) is not None:
            raise NotAllowed("csrf", "A session needs its CSRF token in the header X-CSRFToken.")
        return _counted(Actor.of_user(request.user))


def _nothing_exempt(request: HttpRequest) -> HttpResponse:
    """The view that the check asks for: one that is not exempt from it. Never called."""
    raise NotImplementedError


def _counted(actor: Actor) -> Actor:
    assert actor.user_id is not None
    rate.take(actor.user_id)
    return actor
