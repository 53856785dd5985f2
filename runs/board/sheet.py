"""What the forms about a job share: shown with what stands against them, sent once, and shown again with
what the person wrote when it changed while they looked.

Not what they ask, nor whether they may: that is each form's, the protocol's and the permission's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from runs.commands import Answer
from runs.permissions import count_refusal
from runs.protocol.asks import Event
from runs.queries.job_page import JobPage, job_page

from . import may, refusals
from .door import Reader, go, reader_of, show
from .forms import Sent, new_event_id
from .shapes import Cannot, Notice


@dataclass(frozen=True)
class Sheet:
    """One form about one job.

    `make` gives the form, empty (with `initial`) or bound (with `data`), for the job as it was found;
    `present` what its template is given besides; `ask` the command of a valid one; `said` what to tell when
    it was recorded. `start`: its first values beside the event id; of them what is hidden is made anew when
    the form is shown again. `stale`: whether what it was opened on has changed since.
    `readable`: there is something to read for who may not do it.
    """

    folder: str
    context: str
    deed: may.Deed
    make: Callable[..., Any]
    present: Callable[[JobPage, Any], dict[str, Any]]
    ask: Callable[[Any], Event]
    said: Callable[[Answer, Any], str]
    start: Callable[[JobPage], dict[str, Any]] = lambda found: {}
    stale: Callable[[Any], bool] = lambda form: False
    readable: bool = False


def answer(request: HttpRequest, job_id: str, found: JobPage, sheet: Sheet) -> HttpResponse:
    reader = reader_of(request)
    judged = may.judge_one(reader, found, sheet.deed)
    if request.method != "POST" or judged.forbidden:
        if request.method == "POST":
            count_refusal(reader.actor, sheet.deed.action, job_id, judged.code)
        form = sheet.make(found, initial={"event_id": new_event_id(), **sheet.start(found)})
        refused = judged.forbidden and not (sheet.readable and request.method != "POST")
        return _show(request, sheet, found, form, 403 if refused else 200, against=judged)
    form = sheet.make(found, data=request.POST)
    if not form.is_valid():
        return _show(request, sheet, found, form, 422)
    if sheet.stale(form):
        return _again(request, sheet, job_id, reader, refusals.stale(found.row.updated_at))
    told = form.sent(reader.actor, job_id, lambda: sheet.ask(form))
    if told is None:
        return _show(request, sheet, found, form, form.status)
    if told.status not in sheet.deed.good:
        return _again(request, sheet, job_id, reader, refusals.notice(told))
    messages.success(request, sheet.said(told, form))
    return go(request, reverse("job", args=[job_id]))


def _again(request: HttpRequest, sheet: Sheet, job_id: str, reader: Reader, notice: Notice) -> HttpResponse:
    """With the text kept, for the job as it is now. A refusal is remembered under its event id for ever, so
    what is sent next needs another."""
    found = job_page(reader.actor, job_id, reader.now)
    data = request.POST.copy()
    hidden = {name: str(value) for name, value in sheet.start(found).items() if name == "version"}
    for name, value in {"event_id": new_event_id(), **hidden}.items():
        data[name] = value
    return _show(request, sheet, found, sheet.make(found, data=data), 409, notice=notice)


def _show(
    request: HttpRequest,
    sheet: Sheet,
    found: JobPage,
    form: Sent,
    status: int,
    *,
    against: may.Judged | None = None,
    notice: Notice | None = None,
) -> HttpResponse:
    job_id = found.row.job_id
    event_id = form["event_id"].value()
    cannot: list[Cannot] = []
    if against is not None and not against.possible:
        cannot = [may.as_cannot(against, job_id)]
    context = {
        "job": job_id,
        "seq": found.row.seq,
        "job_title": found.row.title or job_id,
        "back": reverse("job", args=[job_id]),
        "lookup": reverse("event", args=[event_id]) if "event_id" not in form.errors else "",
        "cannot": cannot,
        "notice": notice,
        **sheet.present(found, form),
    }
    folder = f"runs/{sheet.folder}"
    return show(
        request,
        f"{folder}/page.html",
        f"{folder}/_form.html",
        {sheet.context: context, "form": form},
        status,
    )
