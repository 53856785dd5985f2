"""Request cancel: what it would do now, before anybody presses; then the asking."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from runs import causes
from runs.commands import Answer
from runs.queries import preview
from runs.queries.job_page import JobPage, job_page

from . import looks, may, sheet
from .door import form_page, reader_of
from .forms import CancelForm


@form_page
def cancel(request: HttpRequest, job_id: str) -> HttpResponse:
    reader = reader_of(request)
    found = job_page(reader.actor, job_id, reader.now)
    given = causes.offered(reader.actor.tenant_id, "cancel")

    def present(found: JobPage, form: CancelForm) -> dict[str, Any]:
        seen = preview.cancel(reader.actor, job_id)
        return {
            "title": _("Ask to cancel “%(title)s”?") % {"title": found.row.title or job_id},
            "url": reverse("cancel", args=[job_id]),
            "lines": _lines(seen, found),
            "sentence": seen["sentence"],
            "children": seen["children"],
            "irreversible": _("This cannot be taken back."),
            "submit": _("Ask to cancel"),
        }

    ask = sheet.Sheet(
        folder="cancel",
        context="ask",
        deed=may.BY_NAME["cancel"],
        make=lambda found, **given_form: CancelForm(causes=given, **given_form),
        present=present,
        ask=lambda form: form.ask(found.row.spec_digest),
        said=_said,
    )
    return sheet.answer(request, job_id, found, ask)


def _said(answer: Answer, form: CancelForm) -> str:
    assert answer.receipt is not None  # a cancel that was accepted leaves one
    at = looks.clock(looks.moment(answer.receipt["at"]))
    return _("Cancel requested at %(at)s by %(who)s.") % {"at": at, "who": answer.receipt["actor"]["name"]}


def _lines(seen: dict[str, Any], found: JobPage) -> list[dict[str, str]]:
    """What is out, what will be held, children, and whether anybody is listening."""
    held = [_held(seen["held"])] if seen["held"] else []
    out = seen["out_now"]
    unsent = out is not None and looks.unsent(out, found.shape)
    return [_out(out, unsent), *held, *_children(seen["children"]), _worker(seen["worker"])]


def _line(icon: str, token: str, lead: str, text: str = "") -> dict[str, str]:
    return {"icon": icon, "token": token, "lead": lead, "text": text}


def _out(out: dict[str, Any] | None, unsent: bool) -> dict[str, str]:
    if out is None:
        return _line("circle-check", "ok", _("Nothing is out now."))
    if unsent:
        lead = _("Step %(n)d is with its worker, not marked as sent; a cancel now would hold it:")
        return _line("no-entry", "still", lead % {"n": out["ordinal"] + 1}, out["label"])
    lead = _("Step %(n)d is out and may still happen:") % {"n": out["ordinal"] + 1}
    return _line("dashed-question", "unknown", lead, out["label"])


def _held(count: int) -> dict[str, str]:
    text = ngettext(
        "%(n)d step will be held and will not be sent.",
        "%(n)d steps will be held and will not be sent.",
        count,
    )
    return _line("no-entry", "still", text % {"n": count})


def _children(count: int) -> list[dict[str, str]]:
    if not count:
        return []
    text = ngettext("%(n)d child job runs on.", "%(n)d child jobs run on.", count) % {"n": count}
    return [_line("stack", "pending", text, _("A cancel reaches them only where you ask for it below."))]


def _worker(worker: dict[str, Any] | None) -> dict[str, str]:
    if worker is None:
        return _line("worker", "still", _("No worker holds the job."))
    if worker["live"]:
        lead = _("Worker %(name)s is listening.") % {"name": worker["name"]}
        return _line("worker", "ok", lead, _("It hears the stop by its next heartbeat at the latest."))
    lead = _("The lease of worker %(name)s has ended: it may not hear the stop.") % {"name": worker["name"]}
    return _line("worker", "pending", lead)
