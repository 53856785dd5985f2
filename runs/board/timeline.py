"""A job's receipts in people's words, oldest first. A receipt says what was decided then; nothing here is
edited."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from runs import causes
from runs.queries.job_page import JobPage
from runs.words import sentences

from . import looks
from .shapes import Fact

Sentence = str | Promise
OUT = ("inflight", "unknown")

#: By (kind, status): title and mark. `{n}` is the step's number. What is missing reads as refused, below.
TITLES: dict[tuple[str, str], tuple[Sentence, str]] = {
    ("submit", "admitted"): (lazy("Job accepted"), "solid"),
    ("cancel", "requested"): (lazy("Cancel requested"), "stop"),
    ("cancel", "tombstoned"): (lazy("Blocked before it started: the cancel came before the job"), "stop"),
    ("cancel", "already_requested"): (lazy("Cancel requested again; nothing changed"), ""),
    ("cancel", "too_late"): (lazy("Cancel requested too late; nothing changed"), "stop"),
    ("cancel", "spec_conflict"): (lazy("Cancel refused: it meant another list of steps"), ""),
    ("claim", "claimed"): (lazy("Claimed by a worker"), ""),
    ("reserve", "reserved"): (lazy("Step {n} handed to its worker"), "unk"),
    ("dispatch", "dispatched"): (lazy("Step {n} sent"), "unk"),
    ("dispatch", "cancelled"): (lazy("Step {n} held: the cancel came before it was sent"), "solid"),
    ("report", "settled"): (lazy("Step {n}: {outcome}"), ""),
    ("report", "unresolved"): (lazy("Step {n}: its worker does not know the outcome"), "unk"),
    ("report", "fenced"): (lazy("Late word on step {n}, kept as testimony: {outcome}"), "unk"),
    ("report", "already_settled"): (lazy("Second report on step {n}: {outcome}; the outcome stands"), ""),
    ("report", "not_evidence"): (lazy("Report on step {n} refused: its evidence does not count"), ""),
    ("report", "claim_lost"): (lazy("Report refused: its claim was never given out"), ""),
    ("report", "not_reserved"): (lazy("Report refused: step {n} was not handed out"), ""),
    ("release", "released"): (lazy("Step {n} given back unsent"), "solid"),
    ("checkpoint", "acknowledged"): (lazy("Stop confirmed: nothing is out, nothing more will start"), "ok"),
    ("revoke", "revoked"): (lazy("Claim taken away from its worker"), "stop"),
    ("revoke", "no_claim"): (lazy("Revoke refused: no worker held a claim"), ""),
    ("pause", "paused"): (lazy("Paused"), "solid"),
    ("resume", "resumed"): (lazy("Resumed"), "solid"),
    ("pause", "already_paused"): (lazy("Paused again; nothing changed"), ""),
    ("resume", "not_paused"): (lazy("Resumed, but it was not paused; nothing changed"), ""),
    ("pause", "too_late"): (lazy("Pause refused: nothing more would have started"), ""),
    ("resume", "too_late"): (lazy("Resume refused: nothing will start again"), ""),
    ("observe", "observed"): (lazy("Looked at step {n}; nothing is settled by it"), ""),
    ("reconcile", "settled"): (lazy("Outcome of step {n} recorded: {outcome}"), ""),
    ("reconcile", "proposed"): (
        lazy("Outcome of step {n} entered: {outcome}; waiting for a second person"),
        "unk",
    ),
    ("reconcile", "already_settled"): (
        lazy("Second entry for step {n}: {outcome}; the outcome stands"),
        "",
    ),
    ("reconcile", "still_claimed"): (lazy("Entry refused: the worker still held step {n}"), ""),
    ("reconcile", "waiting"): (lazy("Entry refused: another one waited for a second person"), ""),
    ("reconcile", "not_evidence"): (lazy("Entry refused: its evidence does not count"), ""),
    ("reconcile", "not_reserved"): (lazy("Entry refused: step {n} was not out"), ""),
    ("approve", "settled"): (lazy("Entry for step {n} approved: {outcome}"), ""),
    ("approve", "already_decided"): (lazy("Approval refused: the entry had been decided"), ""),
    ("approve", "expired"): (lazy("Approval refused: the entry had expired"), ""),
    ("approve", "superseded"): (lazy("Approval refused: the step had changed since the entry"), ""),
    ("decline", "declined"): (
        lazy("Entry for step {n} sent back; the step is as unknown as before"),
        "unk",
    ),
    ("decline", "withdrawn"): (lazy("Entry for step {n} withdrawn; the step is as unknown as before"), "unk"),
    ("decline", "already_decided"): (lazy("Sending back refused: the entry had been decided"), ""),
    ("decline", "expired"): (lazy("Sending back refused: the entry had expired"), ""),
    ("decline", "superseded"): (lazy("Sending back refused: the step had changed since the entry"), ""),
    ("close_dispute", "dispute_closed"): (lazy("Dispute about step {n} closed"), "solid"),
    ("close_dispute", "not_disputed"): (lazy("Step {n} was not disputed; nothing changed"), ""),
    ("lapse", "lapsed"): (lazy("The worker's lease ended while step {n} was out"), "unk"),
    ("escalate", "escalated"): (lazy("The grace ended; the worker is told to abort"), "stop"),
    ("restored", "restored"): (
        lazy("The database was restored from a backup; what happened since then is not known here"),
        "unk",
    ),
    ("expire", "expired"): (lazy("Entry for step {n} expired after 24 hours"), "unk"),
}
REFUSED = lazy("Refused: {kind}, {status}")

OUTCOMES: dict[str, Sentence] = {
    "ok": lazy("it happened"),
    "rejected": lazy("it did not happen"),
    "unknown": lazy("unknown"),
}
MARKS = {"ok": "ok", "rejected": "bad", "unknown": "unknown"}
KINDS: dict[str, Sentence] = {
    "receiver_confirmed": lazy("The receiver confirmed it"),
    "worker_reported": lazy("The worker's own report"),
    "receiver_refused": lazy("The receiver refused it"),
    "receiver_sealed": lazy("The receiver will refuse this key from now on"),
    "worker_refused": lazy("The tool answered no before any effect"),
    "not_found": lazy("Looked and found nothing"),
    "timed_out": lazy("The look-up timed out"),
    "ambiguous": lazy("Ambiguous"),
    "other": lazy("Other"),
}


@dataclass(frozen=True)
class Note:
    icon: str
    text: str


@dataclass(frozen=True)
class Event:
    seq: int
    at: datetime
    title: str
    text: str = ""
    mark: str = ""
    dashed: bool = False
    note: Note | None = None
    by: str = ""
    evidence: list[Fact] = field(default_factory=list)
    replays: str = ""
    icon: str = ""
    new_day: bool = False


def events(found: JobPage) -> list[Event]:
    """The receipts of the page as events, in order."""
    shown: list[Event] = []
    tenant_id, receipts = found.row.tenant_id, found.receipts
    words = causes.describe_all(tenant_id, {cause for each in receipts if (cause := _cause(each))})
    out = _out_before(receipts, now=found.shape["unsettled"] is not None)
    for receipt in receipts:
        move = receipt["detail"].get("step")
        out = move["to"] in OUT if move else out
        day = timezone.localtime(looks.moment(receipt["at"])).date()
        new_day = not shown or timezone.localtime(shown[-1].at).date() != day
        again = found.replays.get(receipt["event_id"] or "")
        shown.append(_event(receipt, words, out, again, new_day))
    return shown


def _out_before(receipts: list[dict[str, Any]], now: bool) -> bool:
    """Whether a step was out before the first of these receipts: the first move says where it came from.
    Without any it is as it is now."""
    moves = (receipt["detail"]["step"] for receipt in receipts if "step" in receipt["detail"])
    first = next(moves, None)
    return first["from"] in OUT if first else now


def _event(
    receipt: dict[str, Any], words: dict[str, Any], out: bool, again: tuple[int, datetime] | None, new: bool
) -> Event:
    body, detail, key = receipt["body"], receipt["detail"], (receipt["kind"], receipt["status"])
    if receipt["kind"] == "decline" and detail.get("proposal_state") == "withdrawn":
        key = ("decline", "withdrawn")
    outcome = body.get("outcome") or detail.get("outcome") or ""
    title, mark = TITLES.get(key, (REFUSED, ""))
    settled = receipt["status"] == "settled"
    return Event(
        seq=receipt["seq"],
        at=looks.moment(receipt["at"]),
        title=str(title).format(
            n=(receipt["ordinal"] or 0) + 1,
            outcome=OUTCOMES.get(outcome, ""),
            kind=receipt["kind"],
            status=receipt["status"],
        ),
        text=_text(receipt, words),
        mark=MARKS.get(outcome, mark) if settled else mark,
        dashed=out,
        icon="dashed-question" if mark == "unk" and not settled else "",
        by=_by(receipt),
        evidence=_evidence(body.get("evidence")),
        note=_note(receipt),
        replays=_again(again),
        new_day=new,
    )


def _cause(receipt: dict[str, Any]) -> str:
    told = receipt["kind"] in ("cancel", "revoke", "pause", "lapse", "claim")
    return (receipt["body"].get("cause") or receipt["detail"].get("cause") or "") if told else ""


def _text(receipt: dict[str, Any], words: dict[str, Any]) -> str:
    """What was said with it, and what it did besides."""
    body, detail, parts = receipt["body"], receipt["detail"], []
    if cause := _cause(receipt):
        parts.append(_("%(cause)s.") % {"cause": words[cause]["short"]})
    if body.get("asked_by"):
        parts.append(_("For %(whom)s.") % {"whom": body["asked_by"]})
    if receipt["kind"] == "claim":
        parts.append(
            _("By %(worker)s, claim %(fence)s.") % {"worker": body["worker"], "fence": detail.get("fence")}
        )
    move = detail.get("step")
    if move and receipt["kind"] in ("claim", "revoke", "lapse", "restored"):
        parts.append(_moved(move))
    if body.get("value"):
        parts.append(_("“%(value)s”") % {"value": body["value"]})
    if detail.get("proposed_by"):
        parts.append(_("Entered by %(who)s.") % {"who": detail["proposed_by"]})
    if body.get("note"):
        parts.append(_("Note: %(note)s") % {"note": body["note"]})
    return sentences(*parts)


def _moved(move: dict[str, Any]) -> str:
    words = {"n": move["ordinal"] + 1}
    if move["to"] == "unknown":
        return _("From here, step %(n)d is unknown: it may or may not have happened.") % words
    return _("Step %(n)d was not sent, and under that claim never will be.") % words


def _by(receipt: dict[str, Any]) -> str:
    actor = receipt["actor"]
    if actor["type"] == "system":
        return ""
    who = {"service": _("service account %(name)s"), "verifier": _("verifier %(name)s")}.get(
        actor["type"], "%(name)s"
    )
    return who % {"name": actor["name"]}


def _evidence(evidence: dict[str, Any] | None) -> list[Fact]:
    if not evidence:
        return []
    facts = [Fact(_("Evidence"), str(KINDS[evidence["kind"]]))]
    if evidence["text"]:
        facts.append(Fact(_("What was seen"), evidence["text"]))
    if link := evidence.get("link"):
        is_web = link.lower().startswith(("http://", "https://"))
        facts.append(Fact(_("Link"), link, url=link if is_web else ""))
    return facts


def _note(receipt: dict[str, Any]) -> Note | None:
    disputed = receipt["detail"].get("disputed")
    if disputed and disputed["is"]:
        return Note("differ", _("Reports differ: the step is disputed until somebody closes the dispute."))
    if receipt["detail"].get("no_mark"):
        return Note("differ", _("Reported as happened without having been marked as sent."))
    return None


def _again(again: tuple[int, datetime] | None) -> str:
    if again is None:
        return ""
    words = {"n": again[0] + 1, "at": looks.clock(again[1])}
    return _("delivered %(n)d times, last %(at)s") % words
