"""Disputed: jobs whose reports differ, with what each said. The place to close one is the job's own form."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from runs.permissions import Action as Right
from runs.permissions import Target
from runs.queries import disputed as read
from runs.queries.choices import limits_of
from runs.queries.said import Word

from . import looks
from .door import Reader, address, page, reader_of, show
from .shapes import Action, Chip, Empty, Filter, Link, Page
from .timeline import OUTCOMES
from .verify import also, select

NAMES = ("queue", "customer", "why")


@page
def disputed(request: HttpRequest) -> HttpResponse:
    reader, cursor = reader_of(request), request.GET.get("cursor")
    query = {name: request.GET[name] for name in NAMES if request.GET.get(name)}
    found, after = read.page_of(reader.actor, read.Wanted(**query), cursor)
    context = {
        "filters": _filters(reader, query),
        "rows": [_row(row, reader) for row in found],
        "page": Page(
            len(found),
            next=address(request.path, {**query, "cursor": after}) if after else "",
            first=address(request.path, query) if cursor else "",
        ),
        "empty": None if found else _empty(request.path, query),
    }
    return show(request, "runs/disputed/page.html", "runs/disputed/_results.html", {"disputed": context})


def _filters(reader: Reader, query: dict[str, str]) -> list[Filter]:
    whys = [("differ", _("reports differ")), ("no_mark", _("happened without its mark"))]
    return [
        select("queue", _("Queue"), query.get("queue", ""), [(q, q) for q in limits_of(reader.actor)]),
        select("why", _("Why"), query.get("why", ""), whys),
        *also("customer", _("Customer"), query.get("customer", "")),
    ]


def _empty(path: str, query: dict[str, str]) -> Empty:
    if query:
        clear = Link(_("Clear filters"), path)
        return Empty("search", _("No disputed job that you may see matches these filters"), "", clear)
    return Empty("circle-check", _("No reports that you may see differ."))


def _row(row: read.Row, reader: Reader) -> dict[str, Any]:
    job = row.job
    url = reverse("job", args=[job.job_id])
    return {
        "job": job.job_id,
        "url": url,
        "title": job.title or job.job_id,
        "customer": job.owner,
        "at": job.updated_at,
        "doubts": [_doubt(doubt, url) for doubt in row.doubts],
        **_to_do(row, reader),
    }


def _doubt(doubt: read.Doubt, url: str) -> dict[str, Any]:
    step = doubt.step
    shape = {"state": step.state, "disputed": False}
    return {
        "n": step.ordinal + 1,
        "label": step.label,
        "chip": looks.disputed() if step.disputed else _without_mark(),
        "stands": looks.step_chip(_STILL, shape),
        "value": step.value,
        "by": step.settled_by,
        "words": [_word(word, url) for word in doubt.words],
        "more": f"{url}#step-{step.ordinal + 1}" if doubt.more else "",
    }


#: What a chip of a step asks of its job, where the job goes on.
_STILL = {"control": "run", "result": "open"}


def _without_mark() -> Chip:
    return Chip(_("Happened without its mark"), "unknown", "differ", "dashed")


def _word(word: Word, url: str) -> dict[str, Any]:
    return {"text": said(word), "at": word.at, "url": f"{url}#ev-{word.seq}"}


def said(word: Word) -> str:
    """Who says what, as a sentence."""
    told = [str(OUTCOMES.get(word.outcome, "")), f"“{word.value}”" if word.value else ""]
    words = {"who": word.worker or word.by, "said": ", ".join(filter(None, told)) or "–"}
    if word.late:
        return _("Worker %(who)s, who had lost the claim, says: %(said)s") % words
    if word.worker:
        return _("Worker %(who)s says: %(said)s") % words
    return _("%(who)s says: %(said)s") % words


def _to_do(row: read.Row, reader: Reader) -> dict[str, Any]:
    """By the right alone; the form that opens says what else stands against it."""
    if not row.job.disputed:
        return {}
    if not reader.rights.judge(Right.RECONCILE, Target.of(row.job), now=reader.now).allowed:
        return {"cannot": {"icon": "lock", "text": _("You may look, not close")}}
    url = reverse("deed", args=[row.job.job_id, "close_dispute"])
    return {"action": Action(_("Close the dispute"), url, key="e")}
