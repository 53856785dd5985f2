"""What each receipt did to its job, by kind and status (PROTOCOL sections 4 and 5), and where it may stand.

An effect is applied even where it should not have been: one fault is told once, not by what follows. Pure.
"""

from collections.abc import Callable

from ..receipts import Read
from ..state import Job
from . import clock, people, proposals, worker

Effect = Callable[[Job, Read], None]


def nothing(job: Job, r: Read) -> None:
    """A refusal, or an observation: remembered, and it changes nothing."""


def refusals(kind: str, *statuses: str, effect: Effect = nothing) -> dict[tuple[str, str], Effect]:
    return {(kind, status): effect for status in statuses}


#: Every receipt that a job may have after its first, which is `submit admitted` or `cancel tombstoned`.
EFFECTS: dict[tuple[str, str], Effect] = {
    ("cancel", "requested"): people.requested,
    ("cancel", "too_late"): people.came_too_late,
    **refusals("cancel", "spec_conflict", "already_requested"),
    ("claim", "claimed"): worker.claimed,
    ("reserve", "reserved"): worker.reserved,
    ("dispatch", "dispatched"): worker.dispatched,
    ("dispatch", "cancelled"): worker.dispatch_refused,
    ("report", "settled"): worker.settled,
    ("report", "unresolved"): worker.unresolved,
    ("report", "fenced"): worker.fenced,
    ("report", "already_settled"): worker.already_settled,
    **refusals("report", "not_admitted", "claim_lost", "not_reserved", "not_evidence"),
    ("release", "released"): worker.released,
    **refusals("release", "claim_lost", "unmarked", "not_reserved", "already_dispatched"),
    ("checkpoint", "acknowledged"): clock.acknowledged,
    ("revoke", "revoked"): people.revoked,
    **refusals("revoke", "no_claim"),
    ("pause", "paused"): people.paused,
    **refusals("pause", "too_late", "already_paused"),
    ("resume", "resumed"): people.resumed,
    **refusals("resume", "too_late", "not_paused"),
    **refusals("observe", "observed", "not_admitted", "not_reserved"),
    ("reconcile", "settled"): people.reconciled,
    ("reconcile", "proposed"): proposals.proposed,
    ("reconcile", "already_settled"): worker.already_settled,
    **refusals("reconcile", "not_admitted", "not_reserved", "still_claimed", "not_evidence", "waiting"),
    ("approve", "settled"): proposals.approved,
    **refusals("approve", "already_decided", "expired", "superseded", effect=proposals.looked_at),
    ("decline", "declined"): proposals.declined,
    **refusals("decline", "already_decided", "expired", "superseded", effect=proposals.looked_at),
    ("close_dispute", "dispute_closed"): people.dispute_closed,
    **refusals("close_dispute", "not_disputed"),
    ("lapse", "lapsed"): clock.lapsed,
    ("escalate", "escalated"): clock.escalated,
    ("expire", "expired"): proposals.expired,
    ("restored", "restored"): clock.restored,
}
