"""The board's door: who asks, and the one translator from errors to pages. Views raise; nobody else
catches."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any, cast
from urllib.parse import urlencode

from django.db import InterfaceError, InternalError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

from runs.errors import Busy, CancelboardError, Gone, NotAllowed, NotVisible, TooMany, Unauthenticated
from runs.ledger import clock
from runs.models import User
from runs.permissions import Action, Actor, Rights, counting, rights_of

logger = logging.getLogger(__name__)

View = Callable[..., HttpResponse]


@dataclass(frozen=True)
class Reader:
    """The person behind a page, what they hold, and since when this page's data is read: asked once in a
    request, kept for no other."""

    actor: Actor
    rights: Rights
    now: datetime


def reader_of(request: HttpRequest) -> Reader:
    if not hasattr(request, "reader"):
        actor, now = Actor.of_user(cast(User, request.user)), clock()
        request.reader = Reader(actor, rights_of(actor, now), now)  # type: ignore[attr-defined]
    return cast(Reader, request.reader)  # type: ignore[attr-defined]


def is_fragment(request: HttpRequest) -> bool:
    """htmx asks for a part of a page; not when it restores one from history: that is always a whole page."""
    headers = request.headers
    return headers.get("HX-Request") == "true" and headers.get("HX-History-Restore-Request") != "true"


def asked_jobs(request: HttpRequest) -> list[str] | None:
    """The rows that a live patch wants (maybe none: only totals changed); None where this is no patch."""
    if not is_fragment(request) or "jobs" not in request.GET:
        return None
    return [job for job in request.GET["jobs"].split(",") if job and "\0" not in job][:200]


def address(path: str, query: dict[str, str]) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def show(
    request: HttpRequest, page: str, fragment: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    """The whole page, or its fragment for htmx."""
    return render(request, fragment if is_fragment(request) else page, context, status=status)


def go(request: HttpRequest, url: str) -> HttpResponse:
    """On to another page, after something was recorded."""
    return _elsewhere(url, 204) if is_fragment(request) else redirect(url)


def page(view: View) -> View:
    """A view that is only read, for people who are signed in; its errors become pages. No cache keeps its
    answer, because rights may change."""
    return _guarded(view, ("GET", "HEAD"))


def form_page(view: View) -> View:
    """The same for a view that also takes a form."""
    return _guarded(view, ("GET", "HEAD", "POST"))


def _guarded(view: View, methods: tuple[str, ...]) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = _answered(view, methods, request, *args, **kwargs)
        patch_vary_headers(response, ["HX-Request", "HX-History-Restore-Request"])
        response["Cache-Control"] = "no-store"
        return response

    return guarded


def _answered(
    view: View, methods: tuple[str, ...], request: HttpRequest, *args: Any, **kwargs: Any
) -> HttpResponse:
    try:
        if not request.user.is_authenticated:
            return sign_in(request)
        if request.method not in methods:
            return HttpResponseNotAllowed(methods)
        with counting(reader_of(request).actor, Action.VIEW, kwargs.get("job_id", "")):
            return view(request, *args, **kwargs)
    except CancelboardError as error:
        return as_page(request, error)
    except (OperationalError, InterfaceError, InternalError) as error:  # it is away, or a read took too long
        logger.error("the database failed a page", exc_info=error)
        return as_page(request, Busy())


def sign_in(request: HttpRequest) -> HttpResponse:
    """To the login page and back. A part of a page can't hold a login: htmx is told to leave the page."""
    if not is_fragment(request):
        return redirect(address(reverse("login"), {"next": request.get_full_path()}))
    here = request.htmx.current_url_abs_path or request.path  # type: ignore[attr-defined]
    return _elsewhere(address(reverse("login"), {"next": here}), 401)


def _elsewhere(url: str, status: int) -> HttpResponse:
    return HttpResponse(status=status, headers={"HX-Redirect": url})


def as_page(request: HttpRequest, error: CancelboardError) -> HttpResponse:
    """What went wrong, for a person; the session is left as it is. Instead of a part, the whole page that
    says so."""
    if isinstance(error, Unauthenticated):
        return sign_in(request)
    if is_fragment(request):
        return _elsewhere(request.get_full_path(), error.http)
    if isinstance(error, NotVisible | Gone):
        return render(request, "404.html", {}, status=error.http)
    if isinstance(error, NotAllowed):
        return render(request, "403.html", {"reason": str(error)}, status=403)
    if isinstance(error, Busy):  # stands alone: whatever frames a page would read the database
        response = render(request, "503.html", status=503)
        response["Retry-After"] = str(error.retry_after)
        return response
    reason = str(error) if isinstance(error, TooMany) else _("This address can't be read. Begin again.")
    response = render(request, "refused.html", {"reason": reason}, status=error.http)
    if isinstance(error, TooMany):
        response["Retry-After"] = str(error.retry_after)
    return response
