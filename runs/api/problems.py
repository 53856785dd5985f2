"""The one translator from runs.errors to what a caller of the API reads: RFC 9457 problem details."""

import logging
from dataclasses import asdict
from typing import Any

from django.db import InterfaceError, InternalError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import patch_vary_headers
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, ValidationError

from runs.errors import Busy, CancelboardError, FieldError, Invalid, NotVisible, Unauthenticated

from .wording import field_errors

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
MOST_ERRORS, MOST_TEXT = 20, 500  #: what is told of a hostile body


class MethodNotAllowed(CancelboardError):
    http, code, title = 405, "method_not_allowed", "Method not allowed"


def problem(error: CancelboardError) -> HttpResponse:
    """The answer to an error. A 404 has one constant body, whatever is not there or not to be seen."""
    body = {
        "type": f"/api/v1/docs#{error.code}",
        "title": error.title,
        "status": error.http,
        "code": error.code,
        "detail": str(error)[:MOST_TEXT],
        "errors": [_told(each) for each in getattr(error, "errors", ())[:MOST_ERRORS]],
    }
    response = JsonResponse(body, status=error.http, content_type=MEDIA_TYPE)
    response["Cache-Control"] = "no-store"
    patch_vary_headers(response, ("Authorization", "Cookie"))  # alike, whether or not a session was looked at
    if (seconds := getattr(error, "retry_after", None)) is not None:
        response["Retry-After"] = str(seconds)
    if isinstance(error, Unauthenticated):
        response["WWW-Authenticate"] = "Bearer"
    return response


def _told(error: FieldError) -> dict[str, str]:
    return {name: text[:MOST_TEXT] for name, text in asdict(error).items()}


def translate(api: NinjaAPI) -> None:
    """Have every error of a view of `api` answered here."""

    def ours(request: HttpRequest, error: Any) -> HttpResponse:
        return problem(error)

    def nobody(request: HttpRequest, error: Any) -> HttpResponse:
        return problem(Unauthenticated("Sign in, or send Authorization: Bearer and a token."))

    def ill_formed(request: HttpRequest, error: Any) -> HttpResponse:
        return problem(Invalid(*field_errors(error.errors)))

    def not_there(request: HttpRequest, error: Any) -> HttpResponse:
        return problem(NotVisible())

    def busy(request: HttpRequest, error: Any) -> HttpResponse:
        logger.error("the database failed a read", exc_info=error)
        return problem(Busy())

    api.add_exception_handler(CancelboardError, ours)
    api.add_exception_handler(AuthenticationError, nobody)
    api.add_exception_handler(ValidationError, ill_formed)
    api.add_exception_handler(Http404, not_there)
    for away in (OperationalError, InterfaceError, InternalError):
        api.add_exception_handler(away, busy)
