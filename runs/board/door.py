"""The board's door: who asks, and the one translator from errors to pages. Views raise; nobody else
catches."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

from runs.errors import Busy, CancelboardError, Gone, NotAllowed, NotVisible, TooMany, Unauthenticated
from runs.models import User
from runs.permissions import Actor

logger = logging.getLogger(__name__)

View = Callable[..., HttpResponse]


def actor_of(request: HttpRequest) -> Actor:
    """The person behind this page's session."""
    return Actor.of_user(cast(User, request.user))


def is_fragment(request: HttpRequest) -> bool:
    """htmx asks for a part of a page; not when it restores one from history: that is always a whole page."""
    headers = request.headers
    return headers.get("HX-Request") == "true" and headers.get("HX-History-Restore-Request") != "true"


def show(
    request: HttpRequest, page: str, fragment: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    """The whole page, or its fragment for htmx. Neither is kept by any cache: rights may change."""
    response = render(request, fragment if is_fragment(request) else page, context, status=status)
    patch_vary_headers(response, ["HX-Request", "HX-History-Restore-Request"])
    response["Cache-Control"] = "no-store"
    return response


def go(request: HttpRequest, url: str) -> HttpResponse:
    """On to another page, after something was recorded."""
    if is_fragment(request):
        response = HttpResponse(status=204)
        response["HX-Redirect"] = url
        return response
    return redirect(url)


def page(view: View) -> View:
    """A view for people who are signed in; its errors become pages."""

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response = view(request, *args, **kwargs)
        except CancelboardError as error:
            return as_page(request, error)
        except (OperationalError, InterfaceError) as error:  # the database is away, or a read took too long
            logger.error("the database failed a page", exc_info=error)
            return as_page(request, Busy())
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    return guarded


def as_page(request: HttpRequest, error: CancelboardError) -> HttpResponse:
    """What went wrong, for a person; the session is left as it is."""
    if isinstance(error, Unauthenticated):
        return redirect("login")
    if isinstance(error, NotVisible | Gone):
        return render(request, "404.html", {}, status=error.http)
    if isinstance(error, NotAllowed):
        return render(request, "403.html", {"reason": str(error)}, status=403)
    busy = _("The database is busy. Nothing was changed; try again in a moment.")
    reason = busy if isinstance(error, Busy) else str(error)
    response = render(request, "403.html", {"reason": reason}, status=error.http)
    if isinstance(error, Busy | TooMany):
        response["Retry-After"] = str(error.retry_after)
    return response


__all__ = ["actor_of", "as_page", "go", "is_fragment", "page", "show"]
