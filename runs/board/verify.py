"""The Verify queue: what to check next. Nothing in it moves until somebody asks for that."""

from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from runs.queries import verify_queue as read
from runs.queries.choices import limits_of, systems_of
from runs.queries.figures import CAP, Figures, figures, last_recorded

from . import looks
from .door import Reader, address, asked_jobs, page, reader_of, show
from .shapes import Empty, Figure, Filter, Link, Option, Page
from .verify_rows import row_of
from .views import views_of

NAMES = ("queue", "system", "customer", "state", "waits")


@page
def queue(request: HttpRequest) -> HttpResponse:
    reader, asked = reader_of(request), asked_jobs(request)
    query = {name: request.GET[name] for name in (*NAMES, "cursor") if request.GET.get(name)}
    tools = dict(systems_of(reader.actor))
    limits = limits_of(reader.actor)
    if asked is not None:
        shown = set(request.GET.get("shown", "").split(","))
        context = {"queue": _patch(reader, request.path, query, limits, tools, asked, shown)}
        return show(request, "", "runs/verify/_patch.html", context)
    context = {"queue": _page(reader, request.path, query, limits, tools)}
    return show(request, "runs/verify/page.html", "runs/verify/_results.html", context)


def _wanted(query: dict[str, str]) -> read.Wanted:
    return read.Wanted(**{name: value for name, value in query.items() if name != "cursor"})


def _page(
    reader: Reader, path: str, query: dict[str, str], limits: dict[str, int], tools: dict[str, str]
) -> dict[str, Any]:
    wanted, cursor = _wanted(query), query.get("cursor", "")
    found, after = read.rows(reader.actor, wanted, cursor, reader.now)
    rows = [row_of(row, reader, limits, tools) for row in found]
    counted = figures(reader.actor, wanted, limits, _midnight(), reader.now)
    first = {name: value for name, value in query.items() if name != "cursor"}
    return {
        "figures": _figures(counted, reader.now),
        "filters": _filters(limits, tools, wanted),
        "url": address(path, query),
        "csv": address(reverse("queue_file"), first),
        "views": views_of(reader, "verify", first),
        "groups": _groups(rows),
        "page": Page(
            len(rows),
            _capped(counted.matching),
            address(path, {**first, "cursor": after}) if after else "",
            address(path, first) if cursor else "",
        ),
        "empty": None if rows else _empty(reader, path, first, cursor),
        "held": 0,
    }


def _patch(
    reader: Reader,
    path: str,
    query: dict[str, str],
    limits: dict[str, int],
    tools: dict[str, str],
    asked: list[str],
    shown: set[str],
) -> dict[str, Any]:
    """The rows asked for as they are now, and how many jobs this page of the list would show now that the
    reader has not on screen."""
    wanted, cursor = _wanted(query), query.get("cursor", "")
    now = read.job_ids(reader.actor, wanted, cursor, reader.now)
    counted = figures(reader.actor, wanted, limits, _midnight(), reader.now)
    return {
        "rows": [row_of(row, reader, limits, tools) for row in read.these(reader.actor, asked, reader.now)],
        "figures": _figures(counted, reader.now),
        "held": sum(job not in shown for job in now),
        "url": address(path, query),
    }


def _groups(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    late = [row for row in rows if row["age"].tone == "over"]
    fine = [row for row in rows if row["age"].tone != "over"]
    groups = ((_("Past target"), late), (_("Within target"), fine))
    return [
        {"title": title, "note": _jobs(len(members)), "rows": members} for title, members in groups if members
    ]


def _jobs(count: int) -> str:
    return ngettext("%(n)d job on this page", "%(n)d jobs on this page", count) % {"n": count}


def _midnight() -> datetime:
    return timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)


def _capped(count: int) -> str:
    return f"{CAP:,}+" if count > CAP else f"{count:,}"


def _figures(counted: Figures, now: datetime) -> list[Figure]:
    longest = looks.span((now - counted.longest).total_seconds()) if counted.longest else "–"
    return [
        Figure("fig-unverified", _("Unverified jobs"), _capped(counted.jobs), _("cancel requested")),
        Figure("fig-longest", _("Longest wait"), longest, tone="bad" if counted.past_target else ""),
        Figure("fig-past", _("Past target"), _capped(counted.past_target)),
        Figure(
            "fig-second",
            _("Waiting for a second person"),
            _capped(counted.waiting),
            _("%(n)s you may approve") % {"n": _capped(counted.approvable)},
        ),
        Figure(
            "fig-settled",
            _("Recorded today"),
            _capped(counted.settled_today),
            _("%(n)s had happened") % {"n": _capped(counted.had_happened)},
        ),
    ]


def _filters(limits: dict[str, int], tools: dict[str, str], wanted: read.Wanted) -> list[Filter]:
    states = [
        ("unknown", _("outcome unknown")),
        ("inflight", _("waiting for answer")),
        ("waiting", _("second person")),
    ]
    filters = [
        select("queue", _("Queue"), wanted.queue, [(name, name) for name in limits]),
        select("system", _("System"), wanted.system, list(tools.items())),
        select("state", _("State"), wanted.state, states),
    ]
    since = [(name, waited(name)) for name in read.WAITS]
    waits = [select("waits", _("Waiting"), wanted.waits, since)] if wanted.waits else []
    return [*filters, *waits, *also("customer", _("Customer"), wanted.customer)]


def waited(name: str) -> str:
    """One of WAITS in words."""
    least, under = read.WAITS[name]
    words = {"least": whole(least), "most": whole(under) if under else ""}
    if not under:
        return _("%(least)s and more") % words
    return _("%(least)s to %(most)s") % words if least else _("under %(most)s") % words


def whole(length: timedelta) -> str:
    """5 min; 24 h: nothing is left over."""
    minutes = length // timedelta(minutes=1)
    return _("%(m)d min") % {"m": minutes} if minutes < 60 else _("%(h)d h") % {"h": minutes // 60}


def select(name: str, label: str, value: str, choices: list[tuple[str, str]]) -> Filter:
    """What is set stands among the choices, also where nobody is called like that."""
    known = choices if not value or value in dict(choices) else [*choices, (value, value)]
    options = [Option("", _("any"), not value), *(Option(key, text, key == value) for key, text in known)]
    return Filter(name, label, value, options)


def also(name: str, label: str, value: str) -> list[Filter]:
    """A filter that links set: shown while it is set, so that a page never hides what narrows it."""
    return [select(name, label, value, [])] if value else []


def _empty(reader: Reader, path: str, first: dict[str, str], cursor: str) -> Empty:
    if cursor:
        title = _("What stood on this page has been settled")
        return Empty("circle-check", title, "", Link(_("Go to the first page"), address(path, first)))
    if first:
        title = _("No unverified job matches these filters")
        return Empty("search", title, "", Link(_("Clear filters"), path))
    last = last_recorded(reader.actor, reader.now)
    words = last and {"at": _at(last[0], reader.now), "who": last[1]}
    text = _("Last outcome recorded %(at)s by %(who)s.") % words if words else ""
    return Empty(
        "circle-check",
        _("Nothing that you may see is waiting."),
        text,
        Link(_("Look up a job"), reverse("jobs")),
    )


def _at(at: datetime, now: datetime) -> str:
    """The time of day, with its date unless it is today's."""
    local = timezone.localtime(at)
    today = local.date() == timezone.localtime(now).date()
    return looks.clock(at) if today else f"{local:%Y-%m-%d %H:%M}"
