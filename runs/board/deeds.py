"""The smaller deeds on a job: pause, resume, revoke, close a dispute. One form each, one command each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from runs import causes
from runs.commands import do
from runs.errors import NotVisible
from runs.protocol import asks
from runs.queries.job_page import JobPage, job_page

from . import may, refusals
from .door import actor_of, go, page, show
from .forms import CauseForm, NoteForm, Sent, new_event_id
from .shapes import Cannot, Notice


@dataclass(frozen=True)
class Form:
    """A deed's dialog: its question, what it will write, whether it can be taken back, and the ask it
    becomes."""

    title: str | Promise
    body: str | Promise
    submit: str | Promise
    reversible: str | Promise
    form: type[Sent]
    ask: Callable[[dict[str, Any], JobPage], Any]
    done: str | Promise


def _with_cause(kind: type[asks.Event]) -> Callable[[dict[str, Any], JobPage], Any]:
    return lambda given, found: kind(event_id=given["event_id"], cause=given["cause"], note=given["note"])  # type: ignore[call-arg]


def _close(given: dict[str, Any], found: JobPage) -> asks.CloseDispute:
    ordinal = next(ordinal for ordinal, step in found.job.steps.items() if step.disputed)
    return asks.CloseDispute(event_id=given["event_id"], ordinal=ordinal, note=given["note"])


FORMS = {
    "pause": Form(
        lazy("Pause this job?"),
        lazy("The step that is out may still happen. Nothing further starts until somebody resumes it."),
        lazy("Pause"),
        lazy("It can be resumed."),
        CauseForm,
        _with_cause(asks.Pause),
        lazy("Paused."),
    ),
    "resume": Form(
        lazy("Resume this job?"),
        lazy("The next step may start at once. A step that is out is never sent again."),
        lazy("Resume"),
        lazy("It can be paused again."),
        CauseForm,
        _with_cause(asks.Resume),
        lazy("Resumed."),
    ),
    "revoke": Form(
        lazy("Take this job away from its worker?"),
        lazy(
            "Its later report is kept as testimony, and settles nothing. "
            "A step that may have been sent becomes unknown."
        ),
        lazy("Revoke claim"),
        lazy("This cannot be taken back."),
        CauseForm,
        _with_cause(asks.Revoke),
        lazy("Claim revoked."),
    ),
    "close_dispute": Form(
        lazy("Close the dispute?"),
        lazy("The outcome stands as it is; both reports are kept. Say what you found out."),
        lazy("Close the dispute"),
        lazy("A new contradiction opens it again."),
        NoteForm,
        _close,
        lazy("Dispute closed."),
    ),
}


@page
def deed(request: HttpRequest, job_id: str, name: str) -> HttpResponse:
    if name not in FORMS:
        raise NotVisible
    actor, dialog = actor_of(request), FORMS[name]
    found = job_page(actor, job_id)
    extra: dict[str, Any] = (
        {"causes": causes.listing(actor.tenant_id)} if issubclass(dialog.form, CauseForm) else {}
    )
    judged = may.judge(actor, found.row, found.job, found.rights, found.now, found.waits)
    if request.method != "POST":
        form = dialog.form(initial={"event_id": new_event_id(), "version": found.row.seq}, **extra)
        return _show(request, found, name, form, judged, 200)
    form = dialog.form(request.POST, **extra)
    if not form.is_valid():
        return _show(request, found, name, form, judged, 422)
    answer = do(actor, job_id, dialog.ask(form.cleaned_data, found))
    if answer.code >= 400:
        return _show(
            request, job_page(actor, job_id), name, form, judged, answer.code, refusals.notice(answer)
        )
    messages.success(request, str(dialog.done))
    return go(request, reverse("job", args=[job_id]))


def _show(
    request: HttpRequest,
    found: JobPage,
    name: str,
    form: Sent,
    judged: list[may.Judged],
    status: int,
    notice: Notice | None = None,
) -> HttpResponse:
    dialog, job_id = FORMS[name], found.shape["job_id"]
    mine = next((each for each in judged if each.deed.name == name), None)
    cannot = [] if mine and mine.possible else [_cannot(name, mine)]
    ask = {
        "job": job_id,
        "seq": found.shape["seq"],
        "job_title": found.row.title or job_id,
        "title": dialog.title,
        "body": dialog.body,
        "url": reverse("deed", args=[job_id, name]),
        "back": reverse("job", args=[job_id]),
        "submit": dialog.submit,
        "reversible": dialog.reversible,
        "lookup": reverse("event", args=[form["event_id"].value()]),
        "cannot": [] if request.method == "POST" else cannot,
        "notice": notice,
    }
    return show(request, "runs/deed/page.html", "runs/deed/_form.html", {"ask": ask, "form": form}, status)


def _cannot(name: str, judged: may.Judged | None) -> Cannot:
    if judged is None:
        return Cannot(str(FORMS[name].submit), _("There is nothing to do this to here."), "no-entry")
    return Cannot(str(judged.deed.label), judged.reason, "lock" if judged.forbidden else "no-entry")
