"""Refused late writes: what workers reported after they had lost their claim, kept as testimony."""

from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from runs.errors import NotVisible
from runs.queries import late_writes as read
from runs.queries.choices import limits_of

from . import looks
from .disputed import said
from .door import Reader, address, page, reader_of, show
from .shapes import Chip, Empty, Filter, Link, Page
from .verify import also, select

NAMES = ("what", "queue", "customer", "job", "since", "until")


@page
def late_writes(request: HttpRequest) -> HttpResponse:
    reader, cursor = reader_of(request), request.GET.get("cursor")
    query = {name: request.GET[name] for name in NAMES if request.GET.get(name)}
    found, after = read.page_of(reader.actor, _wanted(query), cursor)
    context = {
        "filters": _filters(reader, query),
        "query": query,
        "rows": [_row(row) for row in found],
        "page": Page(
            len(found),
            next=address(request.path, {**query, "cursor": after}) if after else "",
            first=address(request.path, query) if cursor else "",
        ),
        "empty": None if found else _empty(request.path, query),
    }
    return show(request, "runs/late/page.html", "runs/late/_results.html", {"late": context})


def _wanted(query: dict[str, str]) -> read.Wanted:
    days = {name: day(query.get(name)) for name in ("since", "until")}
    return read.Wanted(**{**query, **days})  # type: ignore[arg-type]


def day(text: str | None) -> datetime | None:
    """The beginning of a day, UTC. Raises NotVisible for what is none: a page never shows more than its
    address says."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise NotVisible from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _filters(reader: Reader, query: dict[str, str]) -> list[Filter]:
    whats = [("fenced", _("kept as testimony")), ("claim_lost", _("under no claim of the job"))]
    return [
        select("what", _("What"), query.get("what", ""), whats),
        select("queue", _("Queue"), query.get("queue", ""), [(q, q) for q in limits_of(reader.actor)]),
        *also("customer", _("Customer"), query.get("customer", "")),
        *also("job", _("Job"), query.get("job", "")),
    ]


def _empty(path: str, query: dict[str, str]) -> Empty:
    if query:
        clear = Link(_("Clear filters"), path)
        return Empty("search", _("No late write that you may see matches these filters"), "", clear)
    return Empty("circle-check", _("No worker has reported under a lost claim, as far as you may see."))


def _row(row: read.Row) -> dict[str, Any]:
    receipt, step = row.receipt, row.step
    assert receipt.job is not None  # `visible` leaves out what has none
    url = reverse("job", args=[receipt.job.job_id])
    return {
        "seq": receipt.seq,
        "job": receipt.job.job_id,
        "url": url,
        "event": f"{url}#ev-{receipt.seq}",
        "title": receipt.job.title or receipt.job.job_id,
        "customer": receipt.job.owner,
        "at": receipt.at,
        "said": said(row.word) if receipt.kind == "report" else _gave_back(row),
        "kept": _kept(receipt.status),
        "step": step and {"n": step.ordinal + 1, "label": step.label, "chip": _now(step)},
    }


def _gave_back(row: read.Row) -> str:
    who = row.word.worker or row.word.by
    return _("Worker %(who)s, who had lost the claim, gave the step back unsent") % {"who": who}


def _kept(status: str) -> str:
    return _("kept as testimony") if status == "fenced" else _("refused: not a claim of this job any more")


def _now(step: Any) -> Chip:
    shape = {"state": step.state, "disputed": step.disputed}
    return looks.step_chip({"control": "run", "result": "open"}, shape)
