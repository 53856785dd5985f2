"""The admin's site: the board's login, no bulk delete, none of Django's pages that look past our lists."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, InternalError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, URLResolver, reverse
from django.utils.translation import gettext_lazy as lazy

from runs.errors import Busy

logger = logging.getLogger(__name__)


class Site(admin.AdminSite):
    site_title = site_header = lazy("cancelboard administration")
    index_title = lazy("Set up, and look")

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        self.disable_action("delete_selected")

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """Without `r/…`, which would tell of all tenants' rows if they are there, and `autocomplete/`."""
        unserved = ("view_on_site", "autocomplete")
        return [url for url in super().get_urls() if getattr(url, "name", None) not in unserved]

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """There is one login page, with its lockout. Who is signed in already may not enter here."""
        if request.user.is_authenticated:
            raise PermissionDenied
        asked = request.GET.get("next", "")
        return redirect_to_login(asked or reverse("admin:index"), reverse("login"))

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            try:
                response = inner(request, *args, **kwargs)
                return response.render() if hasattr(response, "render") else response
            except (OperationalError, InterfaceError, InternalError) as error:
                logger.error("the database failed a page of the admin", exc_info=error)
                busy = render(request, "503.html", status=503)
                busy["Retry-After"] = str(Busy().retry_after)
                return busy

        return guarded
