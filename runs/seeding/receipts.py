"""A receipt of a decision that was taken in memory: as runs.commands would write it, digest and all."""

from datetime import datetime
from hashlib import sha256
from typing import Any

from runs.ledger import as_text
from runs.permissions import Actor
from runs.protocol.canonical import canonical
from runs.protocol.decide import Decision

from .people import Cast

ACTIONS = {
    **{action: action for action in ("submit", "cancel", "revoke", "pause")},
    "resume": "pause",
    **dict.fromkeys(("observe", "reconcile", "close_dispute"), "reconcile"),
    **dict.fromkeys(("approve", "decline"), "approve"),
}  # all else is the work itself


def receipt(
    cast: Cast,
    job_id: str,
    actor: Actor,
    ask: Any,
    decision: Decision,
    told: dict[str, Any],
    head: str,
    at: datetime,
) -> tuple[dict[str, Any], str, str, datetime]:
    """As it is shown, its body and its detail as texts, its time; `told` is what its detail holds besides."""
    body = ask.content(decision.before.token.fence)
    if decision.before.job is None:
        body["spec"] = ask.spec.whole
    detail = _who_might(cast, actor, ask, decision) | decision.detail | told
    texts = canonical(body), canonical(detail)
    shown: dict[str, Any] = {
        "actor": {"name": actor.name, "type": str(actor.type)},
        "at": as_text(at),
        "event_id": getattr(ask, "event_id", None),
        "job_id": job_id,
        "kind": ask.kind,
        "ordinal": _ordinal(ask, decision),
        "prev_digest": head,
        "seq": decision.after.at.seq,
        "status": decision.row.status,
    }
    shown["digest"] = sha256(_canonical(shown, *texts).encode()).hexdigest()
    return shown, *texts, at


def _canonical(shown: dict[str, Any], body: str, detail: str) -> str:
    """The whole, its two large parts not written again: they stand between `at` and `event_id`."""
    text = canonical(shown)
    cut = text.index(',"event_id":')
    return f'{text[:cut]},"body":{body},"detail":{detail}{text[cut:]}'


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
