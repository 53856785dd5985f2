"""Record outcome: what is known, what to look up, and the form that takes what somebody saw."""

from datetime import timedelta
from typing import Any
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from runs import readings
from runs.commands import Answer
from runs.errors import NotVisible
from runs.models import Tool
from runs.protocol.canonical import idempotency_key
from runs.queries.job_page import JobPage, job_page, was_sent

from . import checks, looks, may, sheet
from .door import form_page, reader_of
from .evidence_form import CHOICES, OUTCOMES, EvidenceForm
from .shapes import Fact, Link
from .shell import zone
from .timeline import KINDS

JUST_NOW = timedelta(seconds=5)  #: an observation and the look-up that it is of


@form_page
def outcome(request: HttpRequest, job_id: str, ordinal: int) -> HttpResponse:
    reader = reader_of(request)
    found = job_page(reader.actor, job_id, reader.now)
    if ordinal >= found.row.n_steps:
        raise NotVisible
    readings.of_evidence(reader.actor.tenant_id, reader.actor.user_id, job_id, found.receipts)

    def make(found: JobPage, **given: Any) -> EvidenceForm:
        tool = found.tools.get(found.shape["steps"][ordinal]["tool"])
        return EvidenceForm(tool=tool, sent_at=found.sent_at.get(ordinal), zone=zone()["label"], **given)

    def stale(form: EvidenceForm) -> bool:
        """Sent again, it is a replay, whatever the step is by now."""
        version, given = str(found.job.steps[ordinal].version), form.cleaned_data
        return given["version"] not in ("", version) and not was_sent(reader.actor, given["event_id"])

    entry = sheet.Sheet(
        folder="outcome",
        context="entry",
        deed=may.outcome_of(ordinal),
        make=make,
        present=lambda found, form: _present(found, ordinal, form),
        ask=lambda form: form.ask(ordinal),
        said=lambda answer, form: _said(answer, ordinal, form.cleaned_data["outcome"]),
        start=lambda found: {
            "version": found.job.steps[ordinal].version,
            "looked_at": reader.now.replace(second=0, microsecond=0),
        },
        stale=stale,
    )
    return sheet.answer(request, job_id, found, entry)


def _said(answer: Answer, ordinal: int, outcome: str) -> str:
    assert answer.receipt is not None  # whatever a person enters leaves one
    said = {value: str(label) for value, label, _hint in OUTCOMES}[outcome]
    at = looks.clock(looks.moment(answer.receipt["at"]))
    words = {"n": ordinal + 1, "said": said, "at": at, "who": answer.receipt["actor"]["name"]}
    if answer.status == "observed":
        return _("Noted at %(at)s: still unknown. What you saw is kept with step %(n)d.") % words
    if answer.status == "proposed":
        return _("Entered %(at)s for step %(n)d: %(said)s. Waiting for a second person.") % words
    return _("Recorded %(at)s by %(who)s for step %(n)d: %(said)s.") % words


def _present(found: JobPage, ordinal: int, form: EvidenceForm) -> dict[str, Any]:
    shape, step, tool = found.shape, found.shape["steps"][ordinal], form.tool
    needs = found.queue.reconcile_needs
    return {
        **known(found, ordinal),
        "title": _("What happened to step %(n)d?") % {"n": ordinal + 1},
        "subtitle": " · ".join(filter(None, [step["label"], step["target"], str(tool or step["tool"])])),
        "url": reverse("outcome", args=[shape["job_id"], ordinal]),
        "check_again": reverse("check", args=[shape["job_id"], ordinal])
        if checks.unknown_with_verifier(found) == ordinal
        else "",
        "outcomes": [_choice(each, form, found, ordinal) for each in OUTCOMES],
        "rule": _rule(needs),
        "submit": _("Send for approval") if needs == "2" else _("Record outcome"),
    }


def known(found: JobPage, ordinal: int) -> dict[str, Any]:
    """What the system knows of the step, and where to look further."""
    shape, step = found.shape, found.shape["steps"][ordinal]
    tool = found.tools.get(step["tool"])
    key = idempotency_key(shape["tenant"], shape["job_id"], ordinal)
    return {
        "facts": _facts(found, step, key, tool),
        "link": _link(tool, key, step["target"], shape["job_id"]),
        "hides": tool.where_to_look if tool else "",
        "checks": _checks(found, ordinal),
    }


def _facts(found: JobPage, step: dict[str, Any], key: str, tool: Tool | None) -> list[Fact]:
    sent = found.sent_at.get(step["ordinal"])
    facts = [
        Fact(_("Key"), key, code=True),
        Fact(_("Recipient"), step["target"]),
        Fact(_("System"), str(tool or step["tool"])),
        Fact(_("Sent"), at=sent),
        Fact(_("Sent, UTC"), f"{sent:%Y-%m-%d %H:%M:%S.%f}"[:-3] + " UTC" if sent else ""),
        *(Fact(name, looks.as_text(value)) for name, value in sorted(step["params"].items())),
    ]
    return [fact for fact in facts if fact.value or fact.at]


def _link(tool: Tool | None, key: str, target: str, job_id: str) -> Link | None:
    """Into the other system: only where the administrator's template leads to a web page."""
    if tool is None or not tool.link_template.lower().startswith(("http://", "https://")):
        return None
    url = tool.link_template
    for name, value in (("key", key), ("target", target), ("job_id", job_id)):
        url = url.replace("{" + name + "}", quote(value, safe=""))
    return Link(_("Look in %(system)s") % {"system": tool}, url)


def _checks(found: JobPage, ordinal: int) -> list[dict[str, Any]]:
    """What was seen so far, by people and verifiers; the last answer too, where it was no news."""
    seen: list[dict[str, Any]] = [
        {
            "at": looks.moment(receipt["at"]),
            "text": _("%(seen)s (%(who)s)")
            % {"seen": KINDS[receipt["body"]["evidence"]["kind"]], "who": receipt["actor"]["name"]},
        }
        for receipt in found.receipts
        if receipt["kind"] == "observe" and receipt["status"] == "observed" and receipt["ordinal"] == ordinal
    ]
    last = checks.last(found, ordinal)
    return [*seen, last] if last and all(each["at"] < last["at"] - JUST_NOW for each in seen) else seen


def _choice(choice: tuple[str, Any, Any], form: EvidenceForm, found: JobPage, ordinal: int) -> dict[str, Any]:
    value, label, hint = choice
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
        "after": after(value, found, ordinal),
    }


def after(value: str, found: JobPage, ordinal: int, lead: str = "") -> str:
    """The sentence that will be true, by the same words as the page's own."""
    if value == "open":
        return _("The step stays unknown; what you saw is kept beside it.")
    shape = looks.settled_as(found.shape, ordinal, value)
    needs = found.queue.reconcile_needs
    lead = lead or (
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
