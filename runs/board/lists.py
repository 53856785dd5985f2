"""Look-up pages: jobs, tombstones, one event, the words. They look up; the Verify queue is the work."""

from datetime import datetime
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import override
from pydantic import ValidationError

from runs.errors import NotVisible
from runs.permissions import Actor
from runs.queries import receipts
from runs.queries import tombstones as read_tombstones
from runs.queries.choices import queues_of
from runs.queries.jobs import JobFilter, listed, these
from runs.words import HEADLINES

from . import looks
from .door import actor_of, is_fragment, page, show
from .shapes import Chip, Empty, Fact, Link, Page
from .verify import select

NAMES = ("q", "queue", "headline", "owner", "cursor")
PAGE = 50


@page
def jobs(request: HttpRequest) -> HttpResponse:
    actor = actor_of(request)
    if is_fragment(request) and "jobs" in request.GET:
        asked = [job for job in request.GET["jobs"].split(",") if job][:200]
        rows = [row_of(shape) for shape in these(actor, asked)]
        return show(
            request, "", "runs/jobs/_patch.html", {"jobs": {"rows": rows, "held": 0, "url": request.path}}
        )
    query = {name: request.GET[name] for name in NAMES if request.GET.get(name)}
    found = _find(actor, query)
    rows = [row_of(shape) for shape in found["jobs"]]
    first = {name: value for name, value in query.items() if name != "cursor"}
    headlines = [(code, HEADLINES[code].filled(words.label, 0, 0)) for code, words in HEADLINES.items()]
    context = {
        "q": query.get("q", ""),
        "filters": [
            select("queue", _("Queue"), query.get("queue", ""), [(name, name) for name in queues_of(actor)]),
            select(
                "headline",
                _("Status"),
                query.get("headline", ""),
                [(c, t.replace("0", "…")) for c, t in headlines],
            ),
        ],
        "url": f"{request.path}?{urlencode(query)}" if query else request.path,
        "rows": rows,
        "page": Page(
            len(rows),
            _("more") if found["next_cursor"] else str(len(rows)),
            f"{request.path}?{urlencode({**first, 'cursor': found['next_cursor']})}"
            if found["next_cursor"]
            else "",
            f"{request.path}?{urlencode(first)}" if "cursor" in query else "",
        ),
        "empty": None if rows else _no_jobs(bool(first)),
        "held": 0,
    }
    return show(request, "runs/jobs/page.html", "runs/jobs/_results.html", {"jobs": context})


def _find(actor: Actor, query: dict[str, str]) -> dict[str, Any]:
    """The page asked for; nothing where a filter holds what no job can be called."""
    try:
        wanted = JobFilter.model_validate({**query, "limit": PAGE})
    except ValidationError:
        return {"jobs": [], "next_cursor": None}
    return listed(actor, wanted)


def _no_jobs(filtered: bool) -> Empty:
    if filtered:
        return Empty("search", _("No job that you may see matches"), "", Link(_("Clear"), reverse("jobs")))
    return Empty("stack", _("There are no jobs that you may see yet."))


def row_of(shape: dict[str, Any]) -> dict[str, Any]:
    cancel = shape["cancel"]
    return {
        "job": shape["job_id"],
        "seq": shape["seq"],
        "url": reverse("job", args=[shape["job_id"]]),
        "title": shape["steps"][0]["label"] or shape["job_id"],
        "customer": shape["owner"],
        "created_at": datetime.fromisoformat(shape["created_at"]),
        "chip": looks.chip(shape),
        "steps": segments(shape),
        "steps_line": looks.counts(shape),
        "cancel_at": datetime.fromisoformat(cancel["at"]) if cancel else None,
    }


def segments(shape: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps as a bar 100 wide, one piece for each run of equal ones."""
    held = "held" if shape["control"] != "run" or shape["result"] != "open" else "none"
    looks_of = {"ok": "ok", "rejected": "bad", "unknown": "unknown", "inflight": "pending", "pending": held}
    runs = [
        (look, len(list(run))) for look, run in groupby(looks_of[step["state"]] for step in shape["steps"])
    ]
    unit, gap = 100 / len(shape["steps"]), min(1.0, 30 / len(shape["steps"]))
    pieces, at = [], 0
    many = len(shape["steps"]) > 24
    for look, length in runs:
        for width in [length] if many else [1] * length:
            pieces.append({"look": look, "x": f"{at * unit:.2f}", "width": f"{width * unit - gap:.2f}"})
            at += width
    return pieces


@page
def tombstones(request: HttpRequest) -> HttpResponse:
    found, after = read_tombstones.page_of(actor_of(request), request.GET.get("cursor"))
    rows = [{**row, "url": reverse("job", args=[row["job"]])} for row in found]
    context = {
        "rows": rows,
        "page": Page(
            len(rows),
            _("more") if after else str(len(rows)),
            f"{request.path}?{urlencode({'cursor': after})}" if after else "",
            request.path if request.GET.get("cursor") else "",
        ),
        "empty": None if rows else Empty("seal", _("No job was cancelled before it came.")),
        "url": request.path,
    }
    return show(
        request, "runs/tombstones/page.html", "runs/tombstones/_results.html", {"tombstones": context}
    )


@page
def event(request: HttpRequest, event_id: str) -> HttpResponse:
    """Whether something was saved: looked up by the event id that its form was minted with."""
    facts, back = [Fact(_("Event id"), event_id, code=True)], ""
    try:
        receipt = receipts.one(actor_of(request), event_id)
    except NotVisible:
        return show(
            request,
            "runs/event/page.html",
            "runs/event/page.html",
            {"event": {"facts": facts, "event_id": event_id}},
        )
    facts += [
        Fact(_("Command"), receipt["kind"]),
        Fact(_("Answer"), receipt["status"]),
        Fact(_("By"), receipt["actor"]["name"]),
        Fact(_("At"), at=datetime.fromisoformat(receipt["at"])),
        Fact(_("Digest"), receipt["digest"], code=True),
    ]
    if receipt["seq"]:
        back = f"{reverse('job', args=[receipt['job_id']])}#ev-{receipt['seq']}"
    found = {"found": True, "facts": facts, "back": back, "event_id": event_id}
    return show(request, "runs/event/page.html", "runs/event/page.html", {"event": found})


@page
def words(request: HttpRequest) -> HttpResponse:
    rows = []
    for code, headline in HEADLINES.items():
        row: dict[str, Any] = {"code": code}
        for name, language in (("en", "en"), ("zh", "zh-hans")):
            with override(language):
                row[name] = Chip(str(headline.label), headline.token, headline.icon, headline.edge)
                row[f"help_{name}"], row[f"tell_{name}"] = str(headline.help), str(headline.tell)
        rows.append(row)
    return show(request, "runs/words/page.html", "runs/words/page.html", {"words": rows})


@page
def keys(request: HttpRequest) -> HttpResponse:
    return show(request, "runs/help/keys.html", "runs/help/_keys.html", {})
