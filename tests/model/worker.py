"""The worker's commands, row by row as in PROTOCOL.md §4: claim, heartbeat, reserve, dispatch, report,
release.

Each takes (world, job, ask) and returns a Verdict. Not here: replay, receipts, acknowledgement (world.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .asks import Ask
from .moves import already_settled, evidence_counts, lose_claim, settle
from .state import SETTLED, Claim, Job, Step, Testimony, Verdict
from .view import signal

if TYPE_CHECKING:
    from .world import World


def renew(job: Job, now: float) -> Job:
    """An accepted worker command renews the lease."""
    assert job.claim is not None
    return replace(job, claim=replace(job.claim, until=now + job.claim.ttl))


def lost(job: Job, fence: int, kept: bool = False) -> Verdict:
    cause = dict(job.ended).get(fence, "work_claim_lost")
    return Verdict("claim_lost", 409, kept=kept, fields={"cause": cause})


def claim(world: World, job: Job, ask: Ask) -> Verdict:
    if not job.admitted:
        return Verdict("not_admitted", 409)
    if job.result != "open" or job.control == "acknowledged":
        return Verdict("closed", 409)
    if job.claim is not None and job.claim.live(ask.now):
        return Verdict("claim_held", 409, fields={"holder": job.claim.worker})
    after = lose_claim(job, "work_claim_lost")
    fence = after.fence + 1
    new = Claim(ask.worker, fence, ask.ttl_seconds, ask.now + ask.ttl_seconds)
    after = replace(after, fence=fence, claim=new, issued=(*after.issued, (fence, ask.worker)))
    return Verdict("claimed", 200, after, kept=True, fields={"claim": fence, "fence": fence})


def heartbeat(world: World, job: Job, ask: Ask) -> Verdict:
    if not job.is_newest(ask.claim):
        return lost(job, ask.claim)
    told = {"control": job.control, "signal": signal(job)}
    if job.result != "open" or job.control == "acknowledged":
        return Verdict("closed", fields=told)
    return Verdict("ok", job=renew(job, ask.now), fields=told | {"paused": job.paused is not None})


def reserve(world: World, job: Job, ask: Ask) -> Verdict:
    if not job.is_newest(ask.claim):
        return lost(job, ask.claim)
    after = renew(job, ask.now)
    out = job.unsettled()
    if out is not None:
        step = job.steps[out]
        ours = step.fence == ask.claim and ask.attempt is not None and step.attempt == ask.attempt
        if step.state == "inflight" and not step.dispatched and ours:
            return Verdict("reserved", job=after, fields={"ordinal": out}, ordinal=out, replayed=True)
        return Verdict(step.state, job=after, fields={"ordinal": out, "dispatched": step.dispatched})
    if job.result != "open":
        return Verdict("finished", job=after)
    if job.control != "run":
        return Verdict("cancelled", job=after, fields={"cause": cause_of(job)})
    if job.paused is not None:
        return Verdict("paused", job=after)
    ordinal = job.first_pending()
    assert ordinal is not None  # else the result would be final
    if job.steps[ordinal].disputed:
        return Verdict("disputed", job=after)
    taken = replace(
        job.steps[ordinal], state="inflight", fence=ask.claim, attempt=ask.attempt, by_lapse=False
    )
    after = after.with_step(ordinal, taken)
    return Verdict("reserved", job=after, kept=True, fields={"ordinal": ordinal}, ordinal=ordinal)


def cause_of(job: Job) -> str:
    assert job.cancel is not None
    return job.cancel.cause if job.cancel.escalated is None else "settle_drain_timeout"


def dispatch(world: World, job: Job, ask: Ask) -> Verdict:
    if not job.is_newest(ask.claim):
        return lost(job, ask.claim)
    if not job.marked:
        return Verdict("unmarked", 409)
    step = job.step(ask.ordinal)
    if step is None or step.state != "inflight":
        return Verdict("not_reserved", 409)
    same_attempt = step.attempt == ask.attempt
    if not step.dispatched and not same_attempt:
        return Verdict("not_reserved", 409)
    after = renew(job, ask.now)
    if step.dispatched and same_attempt and ask.attempt is not None:
        return Verdict("dispatched", job=after, ordinal=ask.ordinal, replayed=True)
    if step.dispatched:
        return Verdict("already_dispatched", 409)
    if job.control != "run":
        after = after.with_step(ask.ordinal, step.back_to_pending())
        fields: dict[str, Any] = {"cause": cause_of(job)}
        return Verdict("cancelled", job=after, kept=True, fields=fields, ordinal=ask.ordinal)
    after = after.with_step(ask.ordinal, replace(step, dispatched=True))
    return Verdict("dispatched", job=after, kept=True, ordinal=ask.ordinal)


def report(world: World, job: Job | None, ask: Ask) -> Verdict:
    def refused(status: str, after: Job | None = None) -> Verdict:
        return Verdict(status, 409, after, kept=True, ordinal=ask.ordinal)

    if job is None or not job.admitted:
        return refused("not_admitted")
    if not job.was_issued(ask.claim):
        return refused("claim_lost")
    step = job.step(ask.ordinal)
    if step is None:
        return refused("not_reserved")
    newest = job.is_newest(ask.claim)
    if step.state == "pending" and ask.outcome in ("ok", "unknown") and (not newest or step.by_lapse):
        return refused("fenced", testify(job, ask, replace(step, disputed=True)))
    if step.state == "pending":
        return refused("not_reserved")
    if step.state in SETTLED:
        return already_settled(job, ask)
    if not newest:
        return refused("fenced", testify(job, ask, step))
    if ask.outcome == "unknown":
        own = step.said_unknown or step.fence == ask.claim
        after = renew(job, ask.now).with_step(ask.ordinal, replace(step, state="unknown", said_unknown=own))
        return Verdict("unresolved", job=after, kept=True, ordinal=ask.ordinal)
    if not evidence_counts(ask, own_step=step.fence == ask.claim):
        return refused("not_evidence")
    return settle(renew(job, ask.now), ask.ordinal, ask.outcome, ask.value)


def testify(job: Job, ask: Ask, step: Step) -> Job:
    said = Testimony(job.seq + 1, job.worker_of(ask.claim), ask.claim, ask.outcome, ask.value)
    return job.with_step(ask.ordinal, replace(step, testimony=(*step.testimony, said)))


def release(world: World, job: Job, ask: Ask) -> Verdict:
    def refused(status: str) -> Verdict:
        return Verdict(status, 409, kept=True, ordinal=ask.ordinal)

    if not job.is_newest(ask.claim):
        return refused("claim_lost")
    if not job.marked:
        return refused("unmarked")
    step = job.step(ask.ordinal)
    if step is None or step.state != "inflight":
        return refused("not_reserved")
    if step.dispatched:
        return refused("already_dispatched")
    after = renew(job, ask.now).with_step(ask.ordinal, step.back_to_pending())
    return Verdict("released", job=after, kept=True, ordinal=ask.ordinal)
