"""What people and verifiers do, row by row as in PROTOCOL.md §4: revoke, pause, resume, observe, reconcile,
approve, decline, close_dispute.

Each takes (world, job, ask) and returns a Verdict. Not here: submit, cancel, checkpoint, seal (stops.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .asks import Ask
from .moves import already_settled, evidence_counts, lose_claim, settle
from .state import SETTLED, Job, Proposal, Step, Verdict

if TYPE_CHECKING:
    from .world import World


def revoke(world: World, job: Job, ask: Ask) -> Verdict:
    if job.claim is None:
        return Verdict("no_claim", 409, kept=True)
    after = lose_claim(job, ask.named_cause)
    return Verdict("revoked", job=replace(after, fence=after.fence + 1), kept=True)


def pause(world: World, job: Job, ask: Ask) -> Verdict:
    if job.result != "open" or job.control != "run":
        return Verdict("too_late", 409, kept=True)
    if job.paused is not None:
        return Verdict("already_paused", kept=True)
    return Verdict("paused", job=replace(job, paused=(job.seq + 1, ask.named_cause)), kept=True)


def resume(world: World, job: Job, ask: Ask) -> Verdict:
    if job.result != "open" or job.control != "run":
        return Verdict("too_late", 409, kept=True)
    if job.paused is None:
        return Verdict("not_paused", kept=True)
    return Verdict("resumed", job=replace(job, paused=None), kept=True)


def observe(world: World, job: Job, ask: Ask) -> Verdict:
    if not job.admitted:
        return Verdict("not_admitted", 409, kept=True, ordinal=ask.ordinal)
    if job.step(ask.ordinal) is None:
        return Verdict("not_reserved", 409, kept=True, ordinal=ask.ordinal)
    return Verdict("observed", kept=True, ordinal=ask.ordinal)


def reconcile(world: World, job: Job, ask: Ask) -> Verdict:
    """The job comes with its lapse already written (world.py)."""

    def refused(status: str) -> Verdict:
        return Verdict(status, 409, kept=True, ordinal=ask.ordinal)

    if not job.admitted:
        return refused("not_admitted")
    step = job.step(ask.ordinal)
    if step is None:
        return refused("not_reserved")
    if step.state == "pending" and not open_to_reconcile(job, ask.ordinal):
        return refused("not_reserved")
    if step.state in SETTLED:
        return already_settled(job, ask)
    if step.state != "pending" and still_claimed(job, step, ask.now):
        return refused("still_claimed")
    if not evidence_counts(ask, own_step=False):
        return refused("not_evidence")
    if any(is_open(job, each, ask) for each in job.proposals) and not ask.by_verifier:
        return refused("waiting")
    if needs_two(world.queues[job.spec.queue].reconcile_needs, ask.outcome) and not ask.by_verifier:
        number = len(job.proposals) + 1
        entry = Proposal(number, ask.ordinal, ask.outcome, ask.value, step.version, ask.who, ask.now)
        after = replace(job, proposals=(*job.proposals, entry))
        return Verdict("proposed", 202, after, kept=True, fields={"proposal": number}, ordinal=ask.ordinal)
    return settle(job, ask.ordinal, ask.outcome, ask.value)


def open_to_reconcile(job: Job, ordinal: int) -> bool:
    """The one pending step that may be settled: disputed, and next in turn with nothing out."""
    in_turn = job.unsettled() is None and all(step.state == "ok" for step in job.steps[:ordinal])
    return job.steps[ordinal].disputed and job.result == "open" and in_turn


def still_claimed(job: Job, step: Step, now: float) -> bool:
    held = job.claim is not None and job.claim.fence == step.fence and job.claim.live(now)
    unsent = job.marked and step.state == "inflight" and not step.dispatched
    return (held and not step.said_unknown) or unsent


def is_open(job: Job, proposal: Proposal, ask: Ask) -> bool:
    """Undecided, in time, and still about the step as it is."""
    current = proposal.version == job.steps[proposal.ordinal].version
    about = proposal.ordinal == ask.ordinal
    return about and current and not proposal.decided and not proposal.expired(ask.now)


def needs_two(needs: str, outcome: str) -> bool:
    return needs == "2" or (needs == "2 for did-not-happen" and outcome == "rejected")


def find(job: Job | None, number: int) -> Proposal | None:
    return next((each for each in job.proposals if each.number == number), None) if job else None


def standing(job: Job, proposal: Proposal | None, now: float) -> Verdict | None:
    """The rows that approve and decline share; None when the proposal can be decided."""
    if proposal is None:
        return Verdict(None, 404)
    if proposal.decided:
        status = "already_decided"
    elif proposal.expired(now):
        status = "expired"
    elif proposal.version != job.steps[proposal.ordinal].version:
        status = "superseded"
    else:
        return None
    return Verdict(status, 409, kept=True, ordinal=proposal.ordinal)


def decide(job: Job, proposal: Proposal) -> Job:
    decided = tuple(replace(each, decided=True) if each == proposal else each for each in job.proposals)
    return replace(job, proposals=decided)


def approve(world: World, job: Job, ask: Ask) -> Verdict:
    """The proposer was turned away before the event id was looked at (world.py)."""
    proposal = find(job, ask.proposal)
    if (refused := standing(job, proposal, ask.now)) is not None:
        return refused
    assert proposal is not None
    return settle(decide(job, proposal), proposal.ordinal, proposal.outcome, proposal.value)


def decline(world: World, job: Job, ask: Ask) -> Verdict:
    proposal = find(job, ask.proposal)
    if (refused := standing(job, proposal, ask.now)) is not None:
        return refused
    assert proposal is not None
    return Verdict("declined", job=decide(job, proposal), kept=True, ordinal=proposal.ordinal)


def close_dispute(world: World, job: Job, ask: Ask) -> Verdict:
    step = job.step(ask.ordinal)
    if step is None or not step.disputed:
        return Verdict("not_disputed", 409, kept=True, ordinal=ask.ordinal)
    cleared = tuple(replace(said, counts=False) for said in step.testimony)
    after = job.with_step(ask.ordinal, replace(step, disputed=False, testimony=cleared))
    return Verdict("dispute_closed", job=after, kept=True, ordinal=ask.ordinal)
