"""Jobs: a look-up, not the work. Newest first; nothing in it moves, only what a row says is kept fresh."""

from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from pydantic import ValidationError

from runs.permissions import Action as Right
from runs.queries.choices import limits_of
from runs.queries.jobs import JobFilter, listed, these
from runs.words import HEADLINES

from . import looks
from .door import Reader, address, asked_jobs, page, reader_of, show
from .shapes import Empty, Filter, Link, Page
from .verify import also, select
from .views import views_of

NAMES = ("q", "queue", "headline", "owner", "disputed", "cursor")
PAGE = 50
MANY = 24  #: steps, from which on equal ones are drawn as one piece


@page
def jobs(request: HttpRequest) -> HttpResponse:
    reader, asked = reader_of(request), asked_jobs(request)
    query = {name: request.GET[name] for name in NAMES if request.GET.get(name)}
    here = address(request.path, query)
    if asked is not None:
        rows = [row_of(shape) for shape in these(reader.actor, asked)]
        patch = {"rows": rows, "held": 0, "url": here, "bulk": _bulk(reader, query)}
        return show(request, "", "runs/jobs/_patch.html", {"jobs": patch})
    found = _find(reader, query)
    rows = [row_of(shape) for shape in found["jobs"]]
    first = {name: value for name, value in query.items() if name != "cursor"}
    after = found["next_cursor"]
    context = {
        "q": query.get("q", ""),
        "filters": _filters(reader, query),
        "url": here,
        "rows": rows,
        "page": Page(
            len(rows),
            next=address(request.path, {**first, "cursor": after}) if after else "",
            first=address(request.path, first) if "cursor" in query else "",
        ),
        "empty": None if rows else _empty(bool(first)),
        "held": 0,
        "bulk": _bulk(reader, first),
        "csv": address(reverse("jobs_file"), first),
        "views": views_of(reader, "jobs", first),
    }
    return show(request, "runs/jobs/page.html", "runs/jobs/_results.html", {"jobs": context})


def _bulk(reader: Reader, first: dict[str, str]) -> dict[str, str]:
    """For who may cancel anything: where all that match can be asked for. Without a filter, nowhere."""
    if not reader.rights.anywhere(Right.CANCEL, reader.now):
        return {}
    return {"all": address(reverse("bulk"), first) if first else "", "to": reverse("bulk")}


def _find(reader: Reader, query: dict[str, str]) -> dict[str, Any]:
    """The page asked for; nothing where a filter holds what no job can be called."""
    try:
        wanted = JobFilter.model_validate({**query, "limit": PAGE})
    except ValidationError:
        return {"jobs": [], "next_cursor": None}
    return listed(reader.actor, wanted)


def _filters(reader: Reader, query: dict[str, str]) -> list[Filter]:
    queues = [(name, name) for name in limits_of(reader.actor)]
    words = [(code, looks.unfilled(headline.label)) for code, headline in HEADLINES.items()]
    return [
        select("queue", _("Queue"), query.get("queue", ""), queues),
        select("headline", _("Status"), query.get("headline", ""), words),
        select("disputed", _("Reports"), query.get("disputed", ""), [("true", _("differ"))]),
        *also("owner", _("Customer"), query.get("owner", "")),
    ]


def _empty(filtered: bool) -> Empty:
    if filtered:
        by = _("The search goes by the beginning of an id, a customer or a title; no key, no receipt.")
        return Empty("search", _("No job that you may see matches"), by, Link(_("Clear"), reverse("jobs")))
    return Empty("stack", _("There are no jobs that you may see yet."))


def row_of(shape: dict[str, Any]) -> dict[str, Any]:
    cancel = shape["cancel"]
    return {
        "job": shape["job_id"],
        "seq": shape["seq"],
        "url": reverse("job", args=[shape["job_id"]]),
        "title": shape["steps"][0]["label"] or shape["job_id"],
        "customer": shape["owner"],
        "created_at": looks.moment(shape["created_at"]),
        "chip": looks.chip(shape),
        "steps": segments(shape),
        "steps_line": looks.line(shape),
        "cancel_at": looks.moment(cancel["at"]) if cancel else None,
    }


def segments(shape: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps as a bar 100 wide; where there are many, one piece for each run of equal ones."""
    pending = "held" if looks.held(shape) else "none"
    looks_of = {
        "ok": "ok",
        "rejected": "bad",
        "unknown": "unknown",
        "inflight": "pending",
        "pending": pending,
    }
    total = len(shape["steps"])
    pieces, at = [], 0
    for look, run in groupby(looks_of.get(step["state"], step["state"]) for step in shape["steps"]):
        length = len(list(run))
        for width in [length] if total > MANY else [1] * length:
            drawn = 100 * width / total - min(1.0, 30 / total)
            pieces.append({"look": look, "x": f"{100 * at / total:.2f}", "width": f"{drawn:.2f}"})
            at += width
    return pieces
