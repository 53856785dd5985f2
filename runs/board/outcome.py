"""Record outcome: what somebody saw in the other system, as evidence. A reconcile, or an observation."""

from datetime import datetime
from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from runs.commands import do
from runs.errors import NotVisible
from runs.models import Tool
from runs.protocol.canonical import idempotency_key
from runs.queries.job_page import JobPage, job_page

from . import looks, may, refusals
from .door import actor_of, go, page, show
from .forms import CHOICES, OUTCOMES, OutcomeForm, new_event_id
from .shapes import Cannot, Fact, Link
from .timeline import KINDS


@page
def outcome(request: HttpRequest, job_id: str, ordinal: int) -> HttpResponse:
    actor = actor_of(request)
    found = job_page(actor, job_id)
    if ordinal >= found.row.n_steps:
        raise NotVisible
    facts: dict[str, Any] = {
        "tool": found.tools.get(found.shape["steps"][ordinal]["tool"]),
        "sent_at": found.sent_at.get(ordinal),
    }
    if request.method != "POST":
        now = timezone.localtime().replace(second=0, microsecond=0)
        start = {"event_id": new_event_id(), "version": found.job.steps[ordinal].version, "looked_at": now}
        return _show(request, found, ordinal, OutcomeForm(initial=start, **facts), 200)
    form = OutcomeForm(request.POST, **facts)
    if not form.is_valid():
        return _show(request, found, ordinal, form, 422)
    answer = do(actor, job_id, form.ask(ordinal))
    if answer.code >= 400:
        return _show(request, job_page(actor, job_id), ordinal, form, answer.code, refusals.notice(answer))
    messages.success(request, _recorded(answer.status, ordinal, form.cleaned_data["outcome"]))
    return go(request, reverse("job", args=[job_id]))


def _recorded(status: str, ordinal: int, outcome: str) -> str:
    said = {value: str(label) for value, label, _hint in OUTCOMES}[outcome]
    words = {"n": ordinal + 1, "said": said, "at": timezone.localtime().strftime("%H:%M")}
    if status == "observed":
        return _("Noted at %(at)s: still unknown. What you saw is kept with step %(n)d.") % words
    if status == "proposed":
        return _("Entered %(at)s for step %(n)d: %(said)s. Waiting for a second person.") % words
    return _("Recorded %(at)s for step %(n)d: %(said)s.") % words


def _show(
    request: HttpRequest, found: JobPage, ordinal: int, form: OutcomeForm, status: int, notice: Any = None
) -> HttpResponse:
    entry = {**present(request, found, ordinal, form), "notice": notice}
    return show(
        request, "runs/outcome/page.html", "runs/outcome/_form.html", {"entry": entry, "form": form}, status
    )


def present(request: HttpRequest, found: JobPage, ordinal: int, form: OutcomeForm) -> dict[str, Any]:
    shape, step, tool = found.shape, found.shape["steps"][ordinal], form.tool
    job_id, words = shape["job_id"], {"n": ordinal + 1}
    key = idempotency_key(shape["tenant"], job_id, ordinal)
    return {
        "job": job_id,
        "seq": shape["seq"],
        "job_title": found.row.title or job_id,
        "title": _("What happened to step %(n)d?") % words,
        "subtitle": " · ".join(filter(None, [step["label"], step["target"], str(tool or step["tool"])])),
        "url": reverse("outcome", args=[job_id, ordinal]),
        "back": reverse("job", args=[job_id]),
        "facts": _facts(found, step, key, tool),
        "link": _link(tool, key, step["target"], job_id),
        "hides": tool.where_to_look if tool else "",
        "checks": _checks(found, ordinal),
        "outcomes": [_choice(value, label, hint, form, found, ordinal) for value, label, hint in OUTCOMES],
        "rule": _rule(found.queue.reconcile_needs),
        "submit": _("Record outcome") if found.queue.reconcile_needs == "1" else _("Send for approval"),
        "lookup": reverse("event", args=[form["event_id"].value()]),
        "cannot": _cannot(request, found, ordinal),
        "zone": timezone.get_current_timezone_name(),
    }


def _facts(found: JobPage, step: dict[str, Any], key: str, tool: Tool | None) -> list[Fact]:
    sent = found.sent_at.get(step["ordinal"])
    facts = [
        Fact(_("Key"), key, code=True),
        Fact(_("Recipient"), step["target"]),
        Fact(_("System"), str(tool or step["tool"])),
        Fact(_("Sent"), at=sent),
        Fact(_("Sent, UTC"), f"{sent:%Y-%m-%d %H:%M:%S} UTC" if sent else ""),
        *(Fact(name, str(value)) for name, value in sorted(step["params"].items())),
    ]
    return [fact for fact in facts if fact.value or fact.at]


def _link(tool: Tool | None, key: str, target: str, job_id: str) -> Link | None:
    if tool is None or not tool.link_template:
        return None
    url = tool.link_template
    for name, value in (("key", key), ("target", target), ("job_id", job_id)):
        url = url.replace("{" + name + "}", quote(value, safe=""))
    return Link(_("Look in %(system)s") % {"system": tool}, url)


def _checks(found: JobPage, ordinal: int) -> list[dict[str, Any]]:
    return [
        {
            "at": datetime.fromisoformat(receipt["at"]),
            "text": f"{KINDS[receipt['body']['evidence']['kind']]} ({receipt['actor']['name']})",
        }
        for receipt in found.receipts
        if receipt["kind"] == "observe" and receipt["status"] == "observed" and receipt["ordinal"] == ordinal
    ]


def _choice(
    value: str, label: Any, hint: Any, form: OutcomeForm, found: JobPage, ordinal: int
) -> dict[str, Any]:
    kinds = CHOICES[value]
    return {
        "value": value,
        "label": label,
        "hint": hint,
        "checked": form["outcome"].value() == value,
        "one_kind": len(kinds) == 1,
        "kinds": [
            {"value": kind, "label": KINDS[kind], "checked": form["kind"].value() == kind} for kind in kinds
        ],
        "after": _after(value, found, ordinal),
    }


def _after(value: str, found: JobPage, ordinal: int) -> str:
    """The sentence that will be true, by the same words as the page's own."""
    if value == "open":
        return _("The step stays unknown; what you saw is kept beside it.")
    shape = looks.settled_as(found.shape, ordinal, value)
    needs = found.queue.reconcile_needs
    lead = (
        _("After a second person approves, the job will read")
        if needs == "2" or (needs != "1" and value == "rejected")
        else _("The job will then read")
    )
    return _("%(lead)s: “%(label)s”. An outcome is final.") % {"lead": lead, "label": looks.label(shape)}


def _rule(needs: str) -> str:
    return {
        "2": _("In this queue a second person approves every outcome."),
        "2 for did-not-happen": _("In this queue a second person approves “did not happen”."),
    }.get(needs, "")


def _cannot(request: HttpRequest, found: JobPage, ordinal: int) -> list[Cannot]:
    judged = may.judge(actor_of(request), found.row, found.job, found.rights, found.now, found.waits)
    deed = next(each for each in judged if each.deed.name == "outcome")
    if deed.possible and ordinal == found.job.position:
        return []
    reason = deed.reason or _("This step is not the one that is out.")
    return [Cannot(str(deed.deed.label), reason, "lock" if deed.forbidden else "no-entry")]
