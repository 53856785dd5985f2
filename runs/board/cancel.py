"""Request cancel: what it would do now, before anybody presses; then the asking."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from runs import causes
from runs.commands import do
from runs.queries import preview
from runs.queries.job_page import JobPage, job_page

from . import may, refusals
from .door import actor_of, go, page, show
from .forms import CancelForm, new_event_id
from .shapes import Cannot, Notice


@page
def cancel(request: HttpRequest, job_id: str) -> HttpResponse:
    actor = actor_of(request)
    found = job_page(actor, job_id)
    listed = [
        cause for cause in causes.listing(actor.tenant_id) if cause["code"] not in causes.NOT_FOR_CANCEL
    ]
    if request.method != "POST":
        start = {"event_id": new_event_id(), "version": found.row.seq}
        return _show(request, found, CancelForm(initial=start, causes=listed), 200)
    form = CancelForm(request.POST, causes=listed)
    if not form.is_valid():
        return _show(request, found, form, 422)
    answer = do(actor, job_id, form.ask(found.row.spec_digest))
    if answer.status not in ("requested", "tombstoned"):
        code = answer.code if answer.code >= 400 else 409
        return _show(request, job_page(actor, job_id), form, code, refusals.notice(answer))
    messages.success(
        request, _("Cancel requested at %(at)s.") % {"at": timezone.localtime().strftime("%H:%M")}
    )
    return go(request, reverse("job", args=[job_id]))


def _show(
    request: HttpRequest, found: JobPage, form: CancelForm, status: int, notice: Notice | None = None
) -> HttpResponse:
    ask = {**present(request, found, form), "notice": notice}
    return show(
        request, "runs/cancel/page.html", "runs/cancel/_form.html", {"ask": ask, "form": form}, status
    )


def present(request: HttpRequest, found: JobPage, form: CancelForm) -> dict[str, Any]:
    job_id = found.shape["job_id"]
    title = found.row.title or job_id
    seen = preview.cancel(actor_of(request), job_id)
    judged = may.judge(actor_of(request), found.row, found.job, found.rights, found.now, found.waits)
    deed = next(each for each in judged if each.deed.name == "cancel")
    return {
        "job": job_id,
        "seq": found.shape["seq"],
        "job_title": title,
        "title": _("Ask to cancel “%(title)s”?") % {"title": title},
        "url": reverse("cancel", args=[job_id]),
        "back": reverse("job", args=[job_id]),
        "lines": _lines(seen),
        "sentence": seen["sentence"],
        "irreversible": _("This cannot be taken back."),
        "submit": _("Ask to cancel"),
        "lookup": reverse("event", args=[form["event_id"].value()]),
        "cannot": []
        if deed.possible
        else [Cannot(str(deed.deed.label), deed.reason, "lock" if deed.forbidden else "no-entry")],
    }


def _lines(seen: dict[str, Any]) -> list[dict[str, str]]:
    """What is out, what will be held, children, and whether anybody is listening."""
    out, held, children, worker = seen["out_now"], seen["held"], seen["children"], seen["worker"]
    lines = []
    if out:
        lead = _("Step %(n)d is out and may still happen:") % {"n": out["ordinal"] + 1}
        lines.append({"icon": "dashed-question", "token": "unknown", "lead": lead, "text": out["label"]})
    else:
        lines.append({"icon": "circle-check", "token": "ok", "lead": _("Nothing is out now."), "text": ""})
    text = ngettext(
        "%(n)d step will be held and will not be sent.",
        "%(n)d steps will be held and will not be sent.",
        held,
    )
    lines.append({"icon": "no-entry", "token": "still", "lead": text % {"n": held}, "text": ""})
    if children:
        text = ngettext("%(n)d child job runs on.", "%(n)d child jobs run on.", children) % {"n": children}
        lines.append(
            {
                "icon": "stack",
                "token": "pending",
                "lead": text,
                "text": _("A cancel here does not reach them."),
            }
        )
    if worker is None:
        lines.append({"icon": "worker", "token": "still", "lead": _("No worker holds the job."), "text": ""})
    elif worker["live"]:
        lead = _("Worker %(name)s is listening.") % {"name": worker["name"]}
        lines.append(
            {
                "icon": "worker",
                "token": "ok",
                "lead": lead,
                "text": _("It hears the stop by its next heartbeat."),
            }
        )
    else:
        lead = _("Worker %(name)s has not been heard; its lease has ended.") % {"name": worker["name"]}
        lines.append({"icon": "worker", "token": "pending", "lead": lead, "text": ""})
    return lines
