"""A job's receipts in people's words, oldest first. A receipt says what was decided then; nothing here is
edited."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from runs import causes

from .shapes import Fact, Link

Sentence = str | Promise

#: By (kind, status): title and mark. `{n}` is the step's number. What is missing reads as refused, below.
TITLES: dict[tuple[str, str], tuple[Sentence, str]] = {
    ("submit", "admitted"): (lazy("Job accepted"), "solid"),
    ("cancel", "requested"): (lazy("Cancel requested"), "stop"),
    ("cancel", "tombstoned"): (lazy("Cancelled before it came: blocked from starting"), "stop"),
    ("cancel", "already_requested"): (lazy("Cancel requested again; nothing changed"), ""),
    ("cancel", "too_late"): (lazy("Cancel requested too late; nothing changed"), "stop"),
    ("cancel", "spec_conflict"): (lazy("Cancel refused: it meant another list of steps"), ""),
    ("claim", "claimed"): (lazy("Claimed by a worker"), ""),
    ("reserve", "reserved"): (lazy("Step {n} handed to its worker"), ""),
    ("dispatch", "dispatched"): (lazy("Step {n} sent"), "unknown"),
    ("dispatch", "cancelled"): (lazy("Step {n} held: the cancel came before it was sent"), "solid"),
    ("report", "settled"): (lazy("Step {n}: {outcome}"), ""),
    ("report", "unresolved"): (lazy("Step {n}: its worker does not know the outcome"), "unknown"),
    ("report", "fenced"): (lazy("Late word on step {n}, kept as testimony"), "unknown"),
    ("release", "released"): (lazy("Step {n} given back unsent"), "solid"),
    ("checkpoint", "acknowledged"): (lazy("Stop confirmed: nothing is out, nothing more will start"), "ok"),
    ("revoke", "revoked"): (lazy("Claim taken away from its worker"), "stop"),
    ("pause", "paused"): (lazy("Paused"), "solid"),
    ("resume", "resumed"): (lazy("Resumed"), "solid"),
    ("pause", "already_paused"): (lazy("Paused again; nothing changed"), ""),
    ("resume", "not_paused"): (lazy("Resumed, but it was not paused; nothing changed"), ""),
    ("observe", "observed"): (lazy("Looked at step {n}; the outcome is still open"), "unknown"),
    ("reconcile", "settled"): (lazy("Outcome of step {n} recorded: {outcome}"), ""),
    ("reconcile", "proposed"): (
        lazy("Outcome of step {n} entered: {outcome}; waiting for a second person"),
        "unknown",
    ),
    ("approve", "settled"): (lazy("Entry for step {n} approved: {outcome}"), ""),
    ("decline", "declined"): (
        lazy("Entry for step {n} sent back; the step is as unknown as before"),
        "unknown",
    ),
    ("close_dispute", "dispute_closed"): (lazy("Dispute about step {n} closed"), "solid"),
    ("lapse", "lapsed"): (lazy("The worker's lease ended while step {n} was out"), "unknown"),
    ("escalate", "escalated"): (lazy("The grace ended; the worker is told to abort"), "stop"),
    ("expire", "expired"): (lazy("Entry for step {n} expired after 24 hours"), "unknown"),
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
    link: Link | None = None
    replays: str = ""
    icon: str = ""
    new_day: bool = False


def events(
    tenant_id: int, receipts: list[dict[str, Any]], replays: dict[str, tuple[int, datetime]]
) -> list[Event]:
    """The receipts (as the API shows them, in order) as events; `replays`: how often an event id came
    again."""
    shown: list[Event] = []
    out = False
    for receipt in receipts:
        out = _is_out_after(receipt, out)
        event = _event(tenant_id, receipt, out, replays.get(receipt["event_id"] or ""))
        new_day = bool(shown) and event.at.date() != shown[-1].at.date()
        shown.append(Event(**{**event.__dict__, "new_day": new_day}))
    return shown


def _is_out_after(receipt: dict[str, Any], out: bool) -> bool:
    """Whether something is out, not established, from this receipt on."""
    move = receipt["detail"].get("step")
    return move["to"] in ("inflight", "unknown") if move else out


def _event(tenant_id: int, receipt: dict[str, Any], out: bool, again: tuple[int, datetime] | None) -> Event:
    body, detail, key = receipt["body"], receipt["detail"], (receipt["kind"], receipt["status"])
    outcome = body.get("outcome") or detail.get("outcome")
    title, mark = TITLES.get(key, (REFUSED, ""))
    words = {
        "n": (receipt["ordinal"] or 0) + 1,
        "outcome": OUTCOMES.get(outcome or "", ""),
        "kind": receipt["kind"],
        "status": receipt["status"],
    }
    settled = receipt["status"] == "settled"
    return Event(
        seq=receipt["seq"],
        at=datetime.fromisoformat(receipt["at"]),
        title=str(title).format(**words),
        text=_text(tenant_id, receipt),
        mark=MARKS.get(outcome or "", mark) if settled else mark,
        dashed=out,
        icon="dashed-question" if mark == "unknown" and not settled else "",
        by=_by(receipt),
        evidence=_evidence(body.get("evidence")),
        note=_note(receipt),
        replays=_again(again),
    )


def _text(tenant_id: int, receipt: dict[str, Any]) -> str:
    """What was said with it, and what it did besides."""
    body, detail, parts = receipt["body"], receipt["detail"], []
    cause = body.get("cause") or detail.get("cause")
    if cause and receipt["kind"] in ("cancel", "revoke", "pause", "lapse", "claim"):
        parts.append(causes.describe(tenant_id, cause)["short"] + ".")
    if body.get("asked_by"):
        parts.append(_("For %(whom)s.") % {"whom": body["asked_by"]})
    if receipt["kind"] == "claim":
        parts.append(
            _("By %(worker)s, claim %(fence)s.") % {"worker": body["worker"], "fence": detail.get("fence")}
        )
    move = detail.get("step")
    if move and receipt["kind"] in ("claim", "revoke", "lapse"):
        if move["to"] == "unknown":
            parts.append(
                _("Step %(n)d is now unknown: it may or may not have happened.") % {"n": move["ordinal"] + 1}
            )
        else:
            parts.append(_("Step %(n)d was not sent and is held.") % {"n": move["ordinal"] + 1})
    if body.get("value"):
        parts.append(_("“%(value)s”") % {"value": body["value"]})
    if detail.get("proposed_by"):
        parts.append(_("Entered by %(who)s.") % {"who": detail["proposed_by"]})
    if body.get("note"):
        parts.append(_("Note: %(note)s") % {"note": body["note"]})
    return " ".join(parts)


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
    if evidence.get("link"):
        facts.append(Fact(_("Link"), evidence["link"], url=evidence["link"]))
    return facts


def _note(receipt: dict[str, Any]) -> Note | None:
    disputed = receipt["detail"].get("disputed")
    if disputed and disputed["is"]:
        return Note("differ", _("Reports differ: the step is disputed until somebody closes the dispute."))
    if receipt["detail"].get("no_mark"):
        return Note("differ", _("Reported as happened without having been marked as sent."))
    return None


def _again(again: tuple[int, datetime] | None) -> str:
    if again is None or not again[0]:
        return ""
    times, last = again[0] + 1, again[1]
    return _("delivered %(n)d times, last %(at)s") % {"n": times, "at": f"{last:%H:%M}"}
