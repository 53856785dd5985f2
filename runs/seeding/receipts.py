"""Receipts of decisions that were taken in memory: as runs.commands would write them, digest and all."""

import json
from datetime import datetime
from hashlib import sha256
from typing import Any

from runs.ledger import as_text
from runs.permissions import Actor
from runs.protocol.asks import Event
from runs.protocol.canonical import NO_DIGEST
from runs.protocol.decide import Decision

from .people import Cast
from .told import Kept, Member

ACTIONS = {
    **{action: action for action in ("submit", "cancel", "revoke", "pause")},
    "resume": "pause",
    **dict.fromkeys(("observe", "reconcile", "close_dispute"), "reconcile"),
    **dict.fromkeys(("approve", "decline"), "approve"),
}  # all else is the work itself


def receipt(
    cast: Cast, actor: Actor, ask: Any, decision: Decision, besides: dict[str, Any], at: datetime
) -> Kept:
    """What is the same for all to whom this happened. `besides`: what its detail holds beside the change."""
    body = ask.content(decision.before.token.fence)
    if decision.before.job is None:
        body["spec"] = ask.spec.whole
    detail = _who_might(cast, actor, ask, decision) | decision.detail | besides
    shown = {
        "actor": {"name": actor.name, "type": str(actor.type)},
        "event_id": ask.event_id if isinstance(ask, Event) else None,
        "kind": ask.kind,
        "ordinal": _ordinal(ask, decision),
        "seq": decision.after.at.seq,
        "status": decision.row.status,
    }
    return Kept(shown, _text(body), _text(detail), at)


def chain(kept: list[Kept], member: Member) -> None:
    """Gives the member its own receipts: with its id, its times, each digest covering the one before it."""
    head = NO_DIGEST
    for one in kept:
        shown = {
            **one.shown,
            "at": as_text(one.at - member.back),
            "event_id": one.shown["event_id"] and one.shown["event_id"] + member.suffix,
            "job_id": member.job_id,
            "prev_digest": head,
        }
        head = shown["digest"] = sha256(_canonical(shown, one.body, one.detail).encode()).hexdigest()
        member.receipts.append(shown)


def _canonical(shown: dict[str, Any], body: str, detail: str) -> str:
    """The whole, its two large parts not written again: they stand between `at` and `event_id`."""
    text = _text(shown)
    cut = text.index(',"event_id":')
    return f'{text[:cut]},"body":{body},"detail":{detail}{text[cut:]}'


def _text(value: Any) -> str:
    """Canonical text. The stories are told in ASCII, where Python's order of keys is RFC 8785's."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _who_might(cast: Cast, actor: Actor, ask: Any, decision: Decision) -> dict[str, Any]:
    if ask.kind == "checkpoint":
        return {}  # the server's own conclusion
    action = "block" if decision.row.status == "tombstoned" else ACTIONS.get(ask.kind, "execute")
    return {"action": action, "grant": cast.grants.get((actor.name, action)), "token": None}


def _ordinal(ask: Any, decision: Decision) -> int | None:
    if ask.kind in ("reserve", "lapse"):
        return decision.before.at.position
    if ask.kind in ("approve", "decline", "expire") and decision.before.proposal:
        return decision.before.proposal.ordinal
    return getattr(ask, "ordinal", None)
