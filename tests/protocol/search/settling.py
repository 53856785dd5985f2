"""The laws of settling: who may make a step final, on what evidence, and how many people (sections 4, 6)."""

from runs.protocol.states import ActorType, State

from .between import Between, Law

COUNTS = {
    ("report", "ok"): {"receiver_confirmed", "worker_reported"},
    ("report", "rejected"): {"receiver_refused", "receiver_sealed", "worker_refused"},
    ("reconcile", "ok"): {"receiver_confirmed"},
    ("reconcile", "rejected"): {"receiver_refused", "receiver_sealed"},
}
NEED_TWO = {"1": (), "2": ("ok", "rejected"), "2 for did-not-happen": ("rejected",)}


def settled_says_settled(c: Between) -> bool:
    """One step, with the outcome and the value that were asked or proposed; and no other answer settles."""
    if c.status != "settled":
        return not c.settled
    said = (c.said.ordinal, c.said.outcome, c.said.value)
    return [(n, str(to), c.after.steps[n].value) for n, _, to in c.settled] == [said]


def only_evidence_settles(c: Between) -> bool:
    """A worker's own word counts only in a report by the claim that reserved the step."""
    if c.status != "settled" or c.ask.kind == "approve":
        return True
    own = c.token.fence == c.before.steps[c.ask.ordinal].reserved_by
    kind = c.ask.evidence.kind if c.ask.evidence else "worker_reported"
    return kind in COUNTS[c.ask.kind, c.ask.outcome] and (own or kind.startswith("receiver_"))


def nobody_settles_over_a_working_claim(c: Between) -> bool:
    if c.status not in ("settled", "proposed") or c.ask.kind != "reconcile":
        return True
    step, state = c.before.steps[c.ask.ordinal], c.was[c.ask.ordinal]
    lives = (
        c.before.lease_is_live(c.world.now) and step.reserved_by == c.before.fence and not step.said_unknown
    )
    not_sent_yet = c.before.marked and state is State.INFLIGHT and not step.marked
    return state is State.PENDING or not (lives or not_sent_yet)


def a_pending_step_is_settled_only_out_of_a_dispute(c: Between) -> bool:
    return all(was is not State.PENDING or c.before.steps[n].disputed for n, was, _ in c.settled)


def where_two_are_needed_one_does_not_settle(c: Between) -> bool:
    is_verifier = c.world.actor_type is ActorType.VERIFIER
    alone = c.status == "settled" and c.ask.kind == "reconcile" and not is_verifier
    return not alone or c.ask.outcome not in NEED_TWO[c.world.reconcile_needs]


def only_an_open_proposal_is_approved(c: Between) -> bool:
    if c.ask.kind != "approve" or c.status != "settled":
        return True
    found = c.world.proposal
    assert found is not None
    is_same = c.before.steps[found.ordinal].version == found.version
    return found.state == "open" and is_same and c.world.now < found.expires_at


def one_proposal_at_a_time(c: Between) -> bool:
    found = c.world.proposal
    is_open = found is not None and found.is_open(c.before, c.world.now)
    return c.status != "proposed" or not is_open


def a_decided_proposal_stays(c: Between) -> bool:
    was, now = c.world.proposal, c.made.after.proposal
    return was is None or was.state == "open" or was == now


SETTLING: tuple[Law, ...] = (
    settled_says_settled,
    only_evidence_settles,
    nobody_settles_over_a_working_claim,
    a_pending_step_is_settled_only_out_of_a_dispute,
    where_two_are_needed_one_does_not_settle,
    only_an_open_proposal_is_approved,
    one_proposal_at_a_time,
    a_decided_proposal_stays,
)
