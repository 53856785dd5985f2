"""Second person: the list of outcomes that wait for one, and the page on which one of them is decided.

There is no approving from the list and none in bulk: each must be read.
"""

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from runs import readings
from runs.commands import Answer
from runs.protocol import asks
from runs.queries import approvals as read
from runs.queries.job_page import JobPage, job_page

from . import looks, may, sheet
from .door import Reader, address, form_page, page, reader_of, show
from .forms import ApproveForm, DeclineForm, Sent
from .outcome import after, known
from .shapes import Action, Chip, Empty, Fact, Link, Notice, Page
from .timeline import KINDS, OUTCOMES

TABS = {
    "yours": lazy("You may approve"),
    "open": lazy("All that wait"),
    "mine": lazy("Entered by you"),
    "decided": lazy("Decided"),
}
NOTHING = {
    "yours": lazy("Nothing needs a second person from you."),
    "open": lazy("Nothing needs a second person."),
    "mine": lazy("You entered nothing that needed a second person."),
    "decided": lazy("Nothing was decided yet."),
}
#: By state: its words, colour, icon and edge.
STATES = {
    "open": (lazy("Awaiting second person"), "pending", "people", "dashed"),
    "approved": (lazy("Approved"), "ok", "circle-check", "double"),
    "declined": (lazy("Sent back"), "still", "replay", "solid"),
    "withdrawn": (lazy("Withdrawn"), "still", "replay", "solid"),
    "expired": (lazy("Ended after 24 hours"), "still", "clock", "solid"),
    "superseded": (lazy("Superseded: the step changed"), "still", "differ", "solid"),
    "confirmed": (lazy("Settled by the same outcome"), "ok", "circle-check", "solid"),
}


@page
def approvals(request: HttpRequest) -> HttpResponse:
    reader = reader_of(request)
    asked = request.GET.get("show", "")
    shown, cursor = asked if asked in TABS else "yours", request.GET.get("cursor")
    found, after_it, total = read.page_of(reader.actor, shown, cursor, reader.now)
    lonely = read.without_approver(reader.actor, found, reader.now)
    first = address(request.path, {"show": shown})
    context = {
        "tabs": [
            {"label": label, "url": address(request.path, {"show": name}), "current": name == shown}
            for name, label in TABS.items()
        ],
        "rows": [_row(entry, reader, lonely) for entry in found],
        "lonely": [*_lonely(len(lonely)), *_lonely_queues(reader)],
        "page": Page(
            len(found),
            "" if total > read.PAGE else str(total),
            address(request.path, {"show": shown, "cursor": after_it}) if after_it else "",
            first if cursor else "",
        ),
        "empty": None if found else _empty(request.path, shown, first, cursor),
        "url": address(first, {}),
    }
    return show(request, "runs/approvals/page.html", "runs/approvals/_results.html", {"approvals": context})


def _lonely(count: int) -> list[Notice]:
    if not count:
        return []
    lead = ngettext(
        "%(n)d entry here can be approved by nobody.", "%(n)d entries here can be approved by nobody.", count
    )
    text = _("Whoever may approve is missing, entered it themselves, or had a part in running the job.")
    return [Notice(lead % {"n": count}, text, "triangle-octagon", "bad")]


def _lonely_queues(reader: Reader) -> list[Notice]:
    """Which of the reader's queues ask for a second person that there is not."""
    names = read.queues_without_approver(reader.actor.tenant_id, reader.now, reader.rights)
    if not names:
        return []
    lead = ngettext(
        "Outcomes in the queue %(names)s need two people, and nobody may approve.",
        "Outcomes in the queues %(names)s need two people, and nobody may approve.",
        len(names),
    )
    text = _("An administrator can give somebody the right to.")
    return [Notice(lead % {"names": ", ".join(names)}, text, "triangle-octagon", "bad")]


def _empty(path: str, shown: str, first: str, cursor: str | None) -> Empty:
    if cursor:
        return Empty("people", _("Nothing further."), "", Link(_("Go to the first page"), first))
    others = Link(_("See all that wait"), address(path, {"show": "open"})) if shown == "yours" else None
    return Empty("people", str(NOTHING[shown]), "", others)


def state_chip(entry: read.Entry) -> Chip:
    label, token, icon, edge = STATES[entry.state]
    return Chip(str(label), token, icon, edge)


def _row(entry: read.Entry, reader: Reader, lonely: set[str]) -> dict[str, Any]:
    row, evidence = entry.row, json.loads(entry.row.evidence)
    left = (row.expires_at - reader.now).total_seconds()
    return {
        "id": row.proposal_id,
        "url": reverse("approval", args=[row.proposal_id]),
        "at": row.at,
        "title": row.job.title or row.job.job_id,
        "customer": row.job.owner,
        "job": row.job.job_id,
        "step": _("Step %(n)d: %(label)s") % {"n": row.ordinal + 1, "label": entry.step.label},
        "system": entry.step.tool,
        "outcome": OUTCOMES[row.outcome],
        "by": _("you") if row.by_id == reader.actor.user_id else row.by.name,
        "kind": KINDS[evidence["kind"]],
        "chip": state_chip(entry),
        "expires": _("%(span)s left") % {"span": looks.span(left)} if entry.state == "open" else "",
        "decided": row.decided_by.name if row.decided_by else "",
        "lonely": row.proposal_id in lonely,
    }


@form_page
def approval(request: HttpRequest, proposal: str) -> HttpResponse:
    """One entry: what the system knows beside what was entered; and the approving."""
    reader, entry, found = _found(request, proposal)
    shown = [{"body": {"evidence": entry.row.evidence}}]
    readings.of_evidence(reader.actor.tenant_id, reader.actor.user_id, found.row.job_id, shown)

    def present(found: JobPage, form: Sent) -> dict[str, Any]:
        return _present(read.one(reader.actor, proposal, reader.now), found, reader)

    return _answer(
        request,
        found,
        folder="approval",
        context="entry",
        deed=may.approve(_protocols(found, entry)),
        make=lambda found, **given: ApproveForm(**given),
        present=present,
        ask=lambda form: asks.Approve(
            event_id=form.cleaned_data["event_id"], proposal=proposal, note=form.cleaned_data["note"]
        ),
        readable=True,
        said=lambda answer, form: _said(_("Approved at %(at)s by %(who)s: %(what)s."), answer, entry),
    )


@form_page
def decline(request: HttpRequest, proposal: str) -> HttpResponse:
    """Sending an entry back, or taking back one's own: with a reason, and nothing is deleted."""
    reader, entry, found = _found(request, proposal)
    own = entry.row.by_id == reader.actor.user_id
    n = entry.row.ordinal + 1

    def present(found: JobPage, form: Sent) -> dict[str, Any]:
        title = (
            _("Withdraw your entry for step %(n)d?") % {"n": n}
            if own
            else _("Send back to %(who)s?") % {"who": entry.row.by.name}
        )
        return {
            "title": title,
            "body": _("The entry stays in the timeline, marked withdrawn. The step is unknown again.")
            if own
            else _("The step stays unknown; the entry stays in the timeline."),
            "url": reverse("decline", args=[proposal]),
            "back": reverse("approval", args=[proposal]),
            "submit": _("Withdraw entry") if own else _("Send back"),
            "reversible": _("An outcome can be entered anew at any time."),
        }

    done = _("Withdrawn at %(at)s by %(who)s.") if own else _("Sent back at %(at)s by %(who)s.")
    return _answer(
        request,
        found,
        folder="deed",
        context="ask",
        deed=may.decline(_protocols(found, entry)),
        make=lambda found, **given: DeclineForm(**given),
        present=present,
        ask=lambda form: asks.Decline(
            event_id=form.cleaned_data["event_id"], proposal=proposal, note=form.why
        ),
        said=lambda answer, form: _said(done, answer, entry),
    )


def _found(request: HttpRequest, proposal: str) -> tuple[Reader, read.Entry, JobPage]:
    reader = reader_of(request)
    entry = read.one(reader.actor, proposal, reader.now)
    return reader, entry, job_page(reader.actor, entry.row.job.job_id, reader.now)


def _protocols(found: JobPage, entry: read.Entry) -> Any:
    """The entry as the protocol sees it."""
    seen = found.entry(entry.row.proposal_id)
    assert seen is not None  # it is one of the job's
    return seen


def _answer(request: HttpRequest, found: JobPage, **given: Any) -> HttpResponse:
    return sheet.answer(request, found.row.job_id, found, sheet.Sheet(**given))


def _said(sentence: str, answer: Answer, entry: read.Entry) -> str:
    assert answer.receipt is not None  # what decides an entry leaves one
    at = looks.clock(looks.moment(answer.receipt["at"]))
    what = OUTCOMES[entry.row.outcome]
    return sentence % {"at": at, "who": answer.receipt["actor"]["name"], "what": what}


def _present(entry: read.Entry, found: JobPage, reader: Reader) -> dict[str, Any]:
    row, step = entry.row, found.shape["steps"][entry.row.ordinal]
    outcome = str(OUTCOMES[row.outcome])
    waits = entry.state == "open"
    own = row.by_id == reader.actor.user_id
    return {
        **known(found, row.ordinal),
        "title": _("Step %(n)d: %(outcome)s?") % {"n": row.ordinal + 1, "outcome": outcome},
        "subtitle": " · ".join(filter(None, [step["label"], step["target"], step["tool"]])),
        "url": reverse("approval", args=[row.proposal_id]),
        "list": reverse("approvals"),
        "chip": state_chip(entry),
        "entered": _entered(entry, found),
        "differences": _differences(entry, step),
        "after": after(row.outcome, found, row.ordinal, lead=_("Once approved, the job will read"))
        if waits
        else "",
        "submit": _("Approve “%(outcome)s”") % {"outcome": outcome},
        "decline": Action(
            _("Withdraw…") if own else _("Send back…"), reverse("decline", args=[row.proposal_id])
        )
        if waits and may.judge_one(reader, found, may.decline(_protocols(found, entry))).possible
        else None,
    }


def _entered(entry: read.Entry, found: JobPage) -> list[Fact]:
    row, evidence = entry.row, json.loads(entry.row.evidence)
    link = evidence.get("link") or ""
    facts = [
        Fact(_("Outcome"), str(OUTCOMES[row.outcome])),
        Fact(_("Value"), row.value),
        Fact(_("Entered by"), row.by.name, at=row.at),
        Fact(_("Evidence"), str(KINDS[evidence["kind"]])),
        Fact(_("What was seen"), evidence["text"]),
        Fact(_("Link"), link, url=link if link.lower().startswith(("http://", "https://")) else ""),
        Fact(_("Expires"), at=row.expires_at if entry.state == "open" else None),
        Fact(_("Decided by"), row.decided_by.name if row.decided_by else "", at=row.decided_at),
    ]
    return [fact for fact in facts if fact.value or fact.at]


def _differences(entry: read.Entry, step: dict[str, Any]) -> list[Notice]:
    """What the ledger knows that does not say what was entered, in words."""
    row, differ = entry.row, []
    for word in step["testimony"]:
        same_value = not word["value"] or not row.value or word["value"] == row.value
        if word["outcome"] == "unknown" or (word["outcome"] == row.outcome and same_value):
            continue
        words = {"worker": word["worker"], "said": OUTCOMES[word["outcome"]], "value": word["value"]}
        lead = _("Worker %(worker)s says otherwise: %(said)s.") % words
        differ.append(Notice(lead, _("Value: %(value)s") % words if word["value"] else "", "differ", "bad"))
    if step["state"] in OUTCOMES and step["state"] not in ("unknown", row.outcome):
        lead = _("The step was settled otherwise: %(said)s.") % {"said": OUTCOMES[step["state"]]}
        differ.append(Notice(lead, "", "differ", "bad"))
    return differ
