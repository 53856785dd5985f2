"""Saved views of the Verify queue and the list of jobs: their tabs, and the two small forms that keep and
remove one."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from runs import saved_views
from runs.errors import NotVisible

from .door import Reader, address, form_page, go, reader_of, show
from .forms import ViewForm

PAGES = ("verify", "jobs")
TABS = 7  #: that stand side by side; the others are under "More"
LONGEST = 1000


def views_of(reader: Reader, page: str, query: dict[str, str]) -> dict[str, Any]:
    """The tabs of this list, and what can be done about the filters that are set now."""
    here = urlencode(query)
    kept = saved_views.views(reader.actor, reader.rights, page, reader.now)
    tabs = [{"label": _("All"), "url": reverse(page), "current": not here, "by": ""}]
    tabs += [
        {
            "label": view.name,
            "url": f"{reverse(page)}?{view.query}",
            "current": view.query == here,
            "by": "" if view.own else view.by,
        }
        for view in kept
    ]
    mine = next((view for view in kept if view.own and view.query == here), None)
    return {
        "tabs": tabs[:TABS],
        "more": tabs[TABS:],
        "save": address(reverse("new_view"), {"page": page, "query": here}) if here and not mine else "",
        "remove": reverse("remove_view", args=[mine.id]) if mine else "",
    }


@form_page
def new_view(request: HttpRequest) -> HttpResponse:
    reader = reader_of(request)
    page, query = request.GET.get("page", ""), request.GET.get("query", "")
    if page not in PAGES or not 0 < len(query) <= LONGEST or "\0" in query:
        raise NotVisible
    form = ViewForm(request.POST if request.method == "POST" else None)
    back = f"{reverse(page)}?{query}"
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        if saved_views.save(reader.actor, page, given["name"], query, shared=given["shared"]):
            messages.success(request, _("View “%(name)s” kept.") % {"name": given["name"]})
            return go(request, back)
        form.add_error(None, _("You have as many views of this list as are kept: remove one first."))
    ask = {
        "title": _("Keep this view"),
        "body": _("Its filters, under a name. What the list shows is read anew each time."),
        "submit": _("Keep it"),
        "reversible": _("It can be removed again."),
    }
    return _show(request, ask, back, form, 422 if form.is_bound else 200)


@form_page
def remove_view(request: HttpRequest, view_id: int) -> HttpResponse:
    reader = reader_of(request)
    if view_id > 2**62:
        raise NotVisible
    if request.method == "POST":
        page = saved_views.remove(reader.actor, view_id)
        messages.success(request, _("View removed."))
        return go(request, reverse(page))
    view = saved_views.own(reader.actor, view_id)
    ask = {
        "title": _("Remove the view “%(name)s”?") % {"name": view.name},
        "body": _("Others lose it too.") if view.shared else "",
        "submit": _("Remove it"),
        "reversible": _("No job is touched by it."),
    }
    return _show(request, ask, reverse("verify"), None, 200)


def _show(
    request: HttpRequest, ask: dict[str, str], back: str, form: ViewForm | None, status: int
) -> HttpResponse:
    context = {"view": {**ask, "url": request.get_full_path(), "back": back}, "form": form}
    return show(request, "runs/views/page.html", "runs/views/_form.html", context, status)
