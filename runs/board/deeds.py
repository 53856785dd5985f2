"""The smaller deeds on a job: pause, resume, revoke, close a dispute. One form each, one command each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as lazy

from runs import causes
from runs.errors import NotVisible
from runs.protocol import asks
from runs.queries.job_page import JobPage, job_page

from . import may, sheet
from .door import form_page, reader_of
from .forms import CauseForm, CloseForm, Sent


@dataclass(frozen=True)
class Dialog:
    """A deed's question, what it will write, whether it can be taken back, and the ask it becomes."""

    title: str | Promise
    body: str | Promise
    submit: str | Promise
    reversible: str | Promise
    form: Callable[..., Sent]
    ask: Callable[[dict[str, Any]], asks.Event]
    done: str | Promise


def _with_cause(kind: Any) -> Callable[[dict[str, Any]], asks.Event]:
    return lambda given: kind(event_id=given["event_id"], cause=given["cause"], note=given["note"])


DIALOGS = {
    "pause": Dialog(
        lazy("Pause this job?"),
        lazy("The step that is out may still happen. Nothing further starts until somebody resumes it."),
        lazy("Pause"),
        lazy("It can be resumed."),
        CauseForm,
        _with_cause(asks.Pause),
        lazy("Paused."),
    ),
    "resume": Dialog(
        lazy("Resume this job?"),
        lazy("The next step may start at once. A step that is out is never sent again."),
        lazy("Resume"),
        lazy("It can be paused again."),
        CauseForm,
        _with_cause(asks.Resume),
        lazy("Resumed."),
    ),
    "revoke": Dialog(
        lazy("Take this job away from worker %(worker)s?"),
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
    "close_dispute": Dialog(
        lazy("Close the dispute about step %(n)d?"),
        lazy("The outcome stands as it is; both reports are kept. Say what you found out."),
        lazy("Close the dispute"),
        lazy("A new contradiction opens it again."),
        CloseForm,
        lambda given: asks.CloseDispute(
            event_id=given["event_id"], ordinal=given["ordinal"], note=given["note"]
        ),
        lazy("Dispute closed."),
    ),
}


@form_page
def deed(request: HttpRequest, job_id: str, name: str) -> HttpResponse:
    if name not in DIALOGS:
        raise NotVisible
    reader, dialog = reader_of(request), DIALOGS[name]
    found = job_page(reader.actor, job_id, reader.now)
    listed: dict[str, Any] = (
        {"causes": causes.offered(reader.actor.tenant_id, name)} if dialog.form is CauseForm else {}
    )
    ask = sheet.Sheet(
        folder="deed",
        context="ask",
        deed=may.BY_NAME[name],
        make=lambda found, **given: dialog.form(**listed, **given),
        present=lambda found, form: _present(found, form, name),
        ask=lambda form: dialog.ask(form.cleaned_data),
        said=lambda answer, form: str(dialog.done),
        start=lambda found: {"ordinal": may.disputed_step(found.job)},
    )
    return sheet.answer(request, job_id, found, ask)


def _present(found: JobPage, form: Sent, name: str) -> dict[str, Any]:
    dialog = DIALOGS[name]
    asked = str(form["ordinal"].value()) if "ordinal" in form.fields else ""
    n = next((n for n in range(1, found.row.n_steps + 1) if str(n - 1) == asked), 1)
    words = {"worker": found.row.holder or "–", "n": n}
    return {
        "title": str(dialog.title) % words,
        "body": dialog.body,
        "url": reverse("deed", args=[found.row.job_id, name]),
        "submit": dialog.submit,
        "reversible": dialog.reversible,
    }
