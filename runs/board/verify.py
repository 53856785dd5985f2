"""The Verify queue: what to check next. Nothing in it moves until somebody asks for that."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from runs.permissions import Actor, rights_of
from runs.protocol.canonical import idempotency_key
from runs.queries import verify_queue as read
from runs.queries.choices import queues_of, systems_of

from . import looks, may
from .door import actor_of, is_fragment, page, show
from .shapes import Action, Empty, Figure, Filter, Link, Option, Page

NAMES = ("queue", "system", "customer", "state")


@page
def queue(request: HttpRequest) -> HttpResponse:
    actor = actor_of(request)
    wanted = read.Wanted(**{name: request.GET.get(name, "") for name in NAMES})
    if is_fragment(request) and "jobs" in request.GET:
        return show(request, "", "runs/verify/_patch.html", {"queue": patch(request, actor, wanted)})
    found, after, now = read.rows(actor, wanted, request.GET.get("cursor", ""))
    context = {"queue": present(request, actor, wanted, found, after, now)}
    return show(request, "runs/verify/page.html", "runs/verify/_results.html", context)


def present(
    request: HttpRequest, actor: Actor, wanted: read.Wanted, found: list[read.Row], after: str, now: datetime
) -> dict[str, Any]:
    rights = rights_of(actor, now)
    rows = [row_of(row, may.may_record(rights, row.job, now), now) for row in found]
    figures = read.figures(actor, _midnight(), now)
    late = [row for row in rows if row["age"].tone == "over"]
    fine = [row for row in rows if row["age"].tone != "over"]
    groups = [
        {"title": _("Past target"), "note": looks.many(len(late), "jobs"), "rows": late},
        {"title": _("Within target"), "note": looks.many(len(fine), "jobs"), "rows": fine},
    ]
    query = {name: value for name, value in request.GET.items() if name in (*NAMES, "cursor") and value}
    here = f"{request.path}?{urlencode(query)}" if query else request.path
    first = {name: value for name, value in query.items() if name != "cursor"}
    return {
        "figures": _figures(figures, now),
        "filters": _filters(actor, wanted),
        "url": here,
        "groups": [group for group in groups if group["rows"]],
        "page": Page(
            len(rows),
            _capped(figures.jobs),
            f"{request.path}?{urlencode({**first, 'cursor': after})}" if after else "",
            f"{request.path}?{urlencode(first)}" if query.get("cursor") else "",
        ),
        "empty": None if rows else _empty(actor, bool(first), now),
        "held": 0,
    }


def patch(request: HttpRequest, actor: Actor, wanted: read.Wanted) -> dict[str, Any]:
    """The rows asked for as they are now, and how many jobs of the first page the reader has not on
    screen."""
    asked = [job for job in request.GET["jobs"].split(",") if job][:200]
    shown = set(request.GET.get("shown", "").split(","))
    now = timezone.now()
    rights = rights_of(actor, now)
    newest, _after, now = read.rows(actor, wanted)
    rows = [row_of(row, may.may_record(rights, row.job, now), now) for row in read.these(actor, asked)]
    return {
        "rows": rows,
        "figures": _figures(read.figures(actor, _midnight(), now), now),
        "held": sum(row.job.job_id not in shown for row in newest),
        "url": request.path,
    }


def row_of(row: read.Row, may_record: bool, now: datetime) -> dict[str, Any]:
    shape, job = row.shape, row.job
    job_id = shape["job_id"]
    base = {
        "job": job_id,
        "seq": shape["seq"],
        "url": reverse("job", args=[job_id]),
        "title": job.title or job_id,
        "customer": shape["owner"],
        "age": looks.age(job.unsettled_since or row.sent_at, now, row.limit_seconds),
        "more": 0,
    }
    if shape["unsettled"] is None or shape["control"] != "requested":
        return {**base, **_gone(row)}
    step = shape["steps"][shape["unsettled"]]
    waiting = bool(row.waiting_by)
    base |= {
        "step": step["label"],
        "system": step["tool"],
        "gap": _gap(row),
        "key": idempotency_key(shape["tenant"], job_id, step["ordinal"]),
        "chip": looks.short_chip(shape, waiting),
        "sub": _("%(who)s entered an outcome") % {"who": row.waiting_by} if waiting else looks.counts(shape),
        "gone": False,
    }
    if waiting:
        return {**base, "cannot": {"icon": "people", "text": _("Waiting for a second person")}}
    if not may_record:
        return {**base, "cannot": {"icon": "lock", "text": _("You may look, not record")}}
    url = reverse("outcome", args=[job_id, step["ordinal"]])
    return {**base, "action": Action(_("Record outcome"), url, key="e")}


def _gone(row: read.Row) -> dict[str, Any]:
    """A row that has left the set stays where it was and says why."""
    shape = row.shape
    settled = [step for step in shape["steps"] if step["settled_by"]]
    last = max(settled, key=lambda step: step["settled_by"]["seq"], default=None)
    by = last["settled_by"]["actor"]["name"] if last else ""
    return {
        "step": last["label"] if last else "",
        "system": last["tool"] if last else "",
        "key": idempotency_key(shape["tenant"], shape["job_id"], last["ordinal"]) if last else "",
        "chip": looks.step_chip(shape, last) if last else looks.chip(shape),
        "sub": _("%(label)s, by %(who)s; kept in place until you refresh")
        % {"label": looks.label(shape), "who": by}
        if by
        else _("%(label)s; kept in place until you refresh") % {"label": looks.label(shape)},
        "gone": True,
    }


def _gap(row: read.Row) -> str:
    if row.job.cancel_at is None:
        return ""
    seconds = (row.job.cancel_at - row.sent_at).total_seconds()
    if seconds < 0:
        return ""
    return _("%(span)s before cancel") % {"span": f"{seconds:.1f} s" if seconds < 60 else looks.span(seconds)}


def _midnight() -> datetime:
    return timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)


def _capped(count: int) -> str:
    return f"{read.CAP:,}+" if count > read.CAP else f"{count:,}"


def _figures(counted: read.Figures, now: datetime) -> list[Figure]:
    longest = looks.span((now - counted.longest).total_seconds()) if counted.longest else "–"
    return [
        Figure("fig-unverified", _("Unverified jobs"), _capped(counted.jobs), _("cancel requested")),
        Figure("fig-longest", _("Longest wait"), longest, tone="bad" if counted.past_target else ""),
        Figure("fig-past", _("Past target"), _capped(counted.past_target)),
        Figure(
            "fig-second",
            _("Waiting for a second person"),
            _capped(counted.waiting),
            _("%(n)d you may approve") % {"n": counted.approvable},
        ),
        Figure(
            "fig-settled",
            _("Recorded today"),
            _capped(counted.settled_today),
            _("%(n)d had happened") % {"n": counted.had_happened},
        ),
    ]


def _filters(actor: Actor, wanted: read.Wanted) -> list[Filter]:
    states = [
        ("unknown", _("outcome unknown")),
        ("inflight", _("waiting for answer")),
        ("waiting", _("second person")),
    ]
    return [
        select("queue", _("Queue"), wanted.queue, [(name, name) for name in queues_of(actor)]),
        select("system", _("System"), wanted.system, systems_of(actor)),
        select("state", _("State"), wanted.state, states),
    ]


def select(name: str, label: str, value: str, choices: list[tuple[str, str]]) -> Filter:
    options = [Option("", _("any"), not value), *(Option(key, text, key == value) for key, text in choices)]
    return Filter(name, label, value, options)


def _empty(actor: Actor, filtered: bool, now: datetime) -> Empty:
    if filtered:
        return Empty(
            "search",
            _("No unverified job matches these filters"),
            "",
            Link(_("Clear filters"), reverse("verify")),
        )
    last = read.last_recorded(actor, now)
    text = ""
    if last:
        at = timezone.localtime(last[0]).strftime("%H:%M")
        text = _("Last outcome recorded %(at)s by %(who)s.") % {"at": at, "who": last[1]}
    return Empty("circle-check", _("Nothing is waiting."), text, Link(_("Look up a job"), reverse("jobs")))
