"""Workers: who holds what now, when each was last heard, when its lease ends, what it was told and has heard;
and the last drill of each account."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from runs.models import Drill, Job, User
from runs.queries import workers as read
from runs.queries.choices import limits_of

from . import looks
from .door import Reader, address, page, reader_of, show
from .shapes import Chip, Empty, Filter, Link, Page
from .verify import also, select

NAMES = ("worker", "queue", "lease")


@page
def workers(request: HttpRequest) -> HttpResponse:
    reader, cursor = reader_of(request), request.GET.get("cursor")
    query = {name: request.GET[name] for name in NAMES if request.GET.get(name)}
    found, after = read.claims(reader.actor, read.Wanted(**query), cursor, reader.now)
    context = {
        "filters": _filters(reader, query),
        "rows": [_row(job, reader.now) for job in found],
        "drills": [_drill(*each) for each in read.last_drills(reader.actor, reader.rights, reader.now)],
        "page": Page(
            len(found),
            next=address(request.path, {**query, "cursor": after}) if after else "",
            first=address(request.path, query) if cursor else "",
        ),
        "empty": None if found else _empty(request.path, query),
    }
    return show(request, "runs/workers/page.html", "runs/workers/_results.html", {"workers": context})


def _filters(reader: Reader, query: dict[str, str]) -> list[Filter]:
    leases = [("live", _("live")), ("ended", _("ended"))]
    return [
        select("queue", _("Queue"), query.get("queue", ""), [(q, q) for q in limits_of(reader.actor)]),
        select("lease", _("Lease"), query.get("lease", ""), leases),
        *also("worker", _("Worker"), query.get("worker", "")),
    ]


def _empty(path: str, query: dict[str, str]) -> Empty:
    if query:
        clear = Link(_("Clear filters"), path)
        return Empty("search", _("No claim that you may see matches these filters"), "", clear)
    return Empty("worker", _("No worker holds an open job that you may see."))


def _row(job: Job, now: datetime) -> dict[str, Any]:
    assert job.lease_expires_at is not None  # whoever holds a job has one
    live = now < job.lease_expires_at
    left = (job.lease_expires_at - now).total_seconds()
    text = _("%(span)s left") if live else _("ended %(span)s ago")
    return {
        "worker": job.holder,
        "all": address(reverse("workers"), {"worker": job.holder}),
        "fence": job.fence,
        "job": job.job_id,
        "url": reverse("job", args=[job.job_id]),
        "title": job.title or job.job_id,
        "customer": job.owner,
        "heartbeat_at": job.heartbeat_at,
        "lease_at": job.lease_expires_at,
        "lease": text % {"span": looks.span(abs(left))},
        "live": Chip(_("Lease live"), "ok", "pulse")
        if live
        else Chip(_("Lease ended"), "pending", "dashed-clock", "dashed"),
        **_heard(read.due(job)),
    }


def _heard(due: read.Due) -> dict[str, Any]:
    """What it is to hear, and how far that came."""
    if not due.kind:
        return {"told": "", "mark": None, "heard_at": None}
    told = {"stop": _("Stop"), "abort": _("Abort"), "pause": _("Pause")}[due.kind]
    if due.heard_at:
        return {"told": told, "mark": Chip(_("Heard"), "ok", "circle-check"), "heard_at": due.heard_at}
    if due.offered_at:
        by = _("Offered by socket") if due.by == "socket" else _("Offered by heartbeat")
        return {
            "told": told,
            "mark": Chip(by, "pending", "dashed-clock", "dashed"),
            "heard_at": due.offered_at,
        }
    return {
        "told": told,
        "mark": Chip(_("Not offered yet"), "pending", "dashed-clock", "dashed"),
        "heard_at": None,
    }


def _drill(user: User, drill: Drill | None) -> dict[str, Any]:
    """As `manage.py drill` says it."""
    chip = Chip(_("Never drilled"), "still", "clock")
    if drill is not None and drill.heard_at and drill.sent_at:
        ms = (drill.heard_at - drill.sent_at).total_seconds() * 1000
        chip = Chip(_("Heard after %(ms)d ms") % {"ms": round(ms)}, "ok", "circle-check")
    elif drill is not None and drill.sent_at:
        chip = Chip(_("Did not hear"), "bad", "circle-x")
    elif drill is not None:
        chip = Chip(_("No socket: hears by heartbeat only"), "pending", "dashed-clock", "dashed")
    return {"name": user.name, "chip": chip, "at": drill.asked_at if drill else None}
