"""Bulk operations: their history, one of them with what each of its jobs was answered, and the abort. What is
shown is what was recorded: an answer is no effect, and a job that was not asked says so.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from runs import causes
from runs.commands import operations as commands
from runs.errors import NotVisible
from runs.permissions import WHOLE, Action, error_of
from runs.protocol import asks
from runs.protocol.fields import MAX_INTEGER
from runs.queries import operations as read
from runs.queries.operation_page import OperationPage, Row, heading, may_abort, operation_page
from runs.queries.shape import headline_of
from runs.words import HEADLINES

from . import answers, looks
from .door import Reader, address, asked_jobs, form_page, go, page, reader_of, show
from .forms import AbortForm, new_event_id
from .shapes import Chip, Empty, Fact, Filter, Link, Notice, Page
from .verify import select

PAGE = 50


@page
def operations(request: HttpRequest) -> HttpResponse:
    reader, cursor = reader_of(request), request.GET.get("cursor")
    found = read.listed(reader.actor, cursor, PAGE)
    after = found["next_cursor"]
    context = {
        "rows": [_heading(shape) for shape in found["operations"]],
        "page": Page(
            len(found["operations"]),
            next=address(request.path, {"cursor": after}) if after else "",
            first=request.path if cursor else "",
        ),
        "empty": None if found["operations"] else _none(),
    }
    return show(
        request, "runs/operations/page.html", "runs/operations/_results.html", {"operations": context}
    )


def _none() -> Empty:
    text = _("Choose jobs in the list, or filter it, and ask for all of them at once.")
    return Empty(
        "stack", _("No bulk operation that you may see yet."), text, Link(_("Jobs"), reverse("jobs"))
    )


def _heading(shape: dict[str, Any]) -> dict[str, Any]:
    """What a list says of it, and its own page on top."""
    return {
        "id": shape["operation_id"],
        "url": reverse("operation", args=[shape["operation_id"]]),
        "title": shape["title"] or _("Cancel of %(n)s jobs") % {"n": f"{shape['jobs']:,}"},
        "by": shape["by"],
        "at": looks.moment(shape["created_at"]),
        "chip": _state(shape["state"]),
        "jobs": shape["jobs"],
        "answered": shape["answered"],
        "counts": _counts(shape),
    }


def _state(state: str) -> Chip:
    return {
        "open": Chip(_("Asking"), "pending", "dashed-clock", "dashed"),
        "done": Chip(_("Every job was answered"), "still", "circle-check"),
        "aborted": Chip(_("Aborted"), "bad", "no-entry"),
    }[state]


def _counts(shape: dict[str, Any]) -> str:
    parts = [f"{count:,} {answers.chip(code).label}" for code, count in _grouped(shape).items()]
    return _(", ").join(parts)


def _grouped(shape: dict[str, Any]) -> dict[str, int]:
    """Answers by status; refusals by whichever right together."""
    found: dict[str, int] = {}
    for code, count in shape["answers"].items():
        name = code if code in answers.ANSWERS else "refused"
        found[name] = found.get(name, 0) + count
    return found


@page
def operation(request: HttpRequest, operation_id: str) -> HttpResponse:
    reader, asked = reader_of(request), asked_jobs(request)
    after, status = _place(request.GET.get("after", "")), request.GET.get("status", "")
    if "\0" in status:
        raise NotVisible
    found = operation_page(reader.actor, operation_id, reader.now, after=after, status=status, only=asked)
    context = _present(reader, found, request.path, status)
    if asked is not None:
        return show(request, "", "runs/operation/_patch.html", {"op": context})
    query = {"status": status} if status else {}
    here = {**query, **({"after": str(after)} if after else {})}
    context |= {
        "url": address(request.path, here),
        "filters": [_filter(found.shape, status)],
        "page": Page(
            len(found.rows),
            next=address(request.path, {**query, "after": str(found.after)}) if found.after else "",
            first=address(request.path, query) if after else "",
        ),
        "empty": None if found.rows else _empty(request.path, bool(query)),
    }
    return show(request, "runs/operation/page.html", "runs/operation/_results.html", {"op": context})


def _place(text: str) -> int:
    return min(int(text), MAX_INTEGER) if text.isascii() and text.isdigit() and len(text) < 17 else 0


def _empty(path: str, filtered: bool) -> Empty:
    if filtered:
        return Empty(
            "search", _("No job of it that you may see was answered so."), "", Link(_("Show all"), path)
        )
    return Empty("stack", _("None of its jobs may be seen by you."))


def _filter(shape: dict[str, Any], status: str) -> Filter:
    codes = [
        (
            code,
            f"{answers.chip(code).label}: {code}"
            if code not in answers.ANSWERS
            else answers.chip(code).label,
        )
        for code in shape["answers"]
    ]
    return select("status", _("Answer"), status, [*codes, ("waiting", _("not asked"))])


def _present(reader: Reader, found: OperationPage, path: str, status: str) -> dict[str, Any]:
    shape = found.shape
    left = shape["jobs"] - shape["answered"]
    return {
        **_heading(shape),
        "state": shape["state"],
        "open": shape["state"] == "open",
        "left": left,
        "share": f"{100 * shape['answered'] / shape['jobs']:.2f}" if shape["jobs"] else "100",
        "figures": [
            {"label": answers.chip(code).label, "value": f"{count:,}"}
            for code, count in _grouped(shape).items()
        ],
        "facts": _facts(reader, shape),
        "rows": [_row(row, shape["state"]) for row in found.rows],
        "abort": address(f"{path}abort/", {})
        if shape["state"] == "open" and may_abort(reader.rights, found.own, reader.now)
        else "",
    }


def _row(row: Row, state: str) -> dict[str, Any]:
    job = row.job
    return {
        "job": job.job_id,
        "seq": job.seq,
        "url": reverse("job", args=[job.job_id]),
        "title": job.title or job.job_id,
        "customer": job.owner,
        "chip": answers.chip(row.status) if row.status else answers.waiting(state),
        "why": answers.sentence(row.status) if row.status else "",
        "at": row.at,
        "now": _now(job),
    }


def _now(job: Any) -> Chip:
    """The job's headline as it is now, from its row alone: what lies before its position has happened."""
    if job.disputed:
        return looks.disputed()
    words = HEADLINES[headline_of(job)]
    return Chip(words.filled(words.label, job.position, job.n_steps), words.token, words.icon, words.edge)


def _facts(reader: Reader, shape: dict[str, Any]) -> list[Fact]:
    cause = causes.describe_all(reader.actor.tenant_id, {shape["cause"]})[shape["cause"]]
    ended = [Fact(_("Ended"), at=looks.moment(shape["ended_at"]))] if shape["ended_at"] else []
    aborted = [Fact(_("Aborted by"), shape["aborted_by"])] if shape["aborted_by"] else []
    return [
        Fact(_("Asked by"), f"{shape['by']},", at=looks.moment(shape["created_at"])),
        Fact(_("Why"), cause["short"], note=shape["note"]),
        *conditions_as_facts(shape["filter"] or {}),
        *ended,
        *aborted,
        Fact(_("Operation"), shape["operation_id"], code=True),
    ]


def conditions_as_facts(conditions: dict[str, Any]) -> list[Fact]:
    """A filter in words."""
    labels = {
        "q": _("Begins with"),
        "queue": _("Queue"),
        "headline": _("Status"),
        "owner": _("Customer"),
        "disputed": _("Reports differ"),
        "control": _("Control"),
        "result": _("Result"),
        "unsettled": _("A step is out"),
    }
    return [
        Fact(label, _value(name, conditions[name])) for name, label in labels.items() if name in conditions
    ]


def _value(name: str, value: Any) -> str:
    if name in ("disputed", "unsettled"):
        return _("yes") if str(value).lower() in ("true", "1") else _("no")
    if name == "headline" and value in HEADLINES:
        return looks.unfilled(HEADLINES[value].label)
    return str(value)


@form_page
def abort(request: HttpRequest, operation_id: str) -> HttpResponse:
    """Asks no further job; what was asked stays asked."""
    reader = reader_of(request)
    shape, own = heading(reader.actor, operation_id)
    if not may_abort(reader.rights, own, reader.now):
        raise error_of(reader.rights.judge(Action.CANCEL, WHOLE, now=reader.now))
    if request.method != "POST":
        return _ask_abort(request, shape, AbortForm(initial={"event_id": new_event_id()}))
    form = AbortForm(request.POST)
    if not form.is_valid():
        return _ask_abort(request, shape, form, 422)
    given = form.cleaned_data
    ask = asks.Abort(operation=operation_id, event_id=given["event_id"], note=given["note"])
    told = form.tried(lambda: commands.abort(reader.actor, ask))
    if told is None:
        return _ask_abort(request, shape, form, form.status)
    if told.status not in ("aborted", "already_ended"):
        notice = Notice(_("Nothing was changed by this."), told.status, token="pending")
        return _ask_abort(request, shape, form, 409, notice)
    ended = told.status == "already_ended"
    messages.info(
        request, _("It had ended already.") if ended else _("Aborted: no further job of it is asked.")
    )
    return go(request, reverse("operation", args=[operation_id]))


def _ask_abort(
    request: HttpRequest,
    shape: dict[str, Any],
    form: AbortForm,
    status: int = 200,
    notice: Notice | None = None,
) -> HttpResponse:
    event_id = form["event_id"].value()
    known = "event_id" not in form.errors
    context = {
        "title": _("Abort “%(title)s”?") % {"title": _heading(shape)["title"]},
        "job_title": _heading(shape)["title"],
        "body": _(
            "%(left)s of %(jobs)s jobs were not asked yet, and will not be. What was asked stays asked: "
            "a cancel is never taken back."
        )
        % {"left": f"{shape['jobs'] - shape['answered']:,}", "jobs": f"{shape['jobs']:,}"},
        "url": request.path,
        "submit": _("Abort it"),
        "reversible": _("This cannot be taken back; the rest can be asked anew."),
        "back": reverse("operation", args=[shape["operation_id"]]),
        "lookup": reverse("event", args=[event_id]) if known else reverse("operations"),
        "notice": notice,
    }
    return show(
        request, "runs/deed/page.html", "runs/deed/_form.html", {"ask": context, "form": form}, status
    )
