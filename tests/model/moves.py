"""The moves that several commands share: a claim lost, a step settled, a second word on a settled step.

PROTOCOL.md §5 and §6. Pure: a job in, a job or a verdict out.
"""

from __future__ import annotations

from dataclasses import replace

from .asks import Ask
from .state import Job, Step, Verdict, contradict

COUNTS = {
    "ok": ("receiver_confirmed", "worker_reported"),
    "rejected": ("receiver_refused", "receiver_sealed", "worker_refused"),
}


def evidence_counts(ask: Ask, own_step: bool) -> bool:
    """Whether the kind counts for the outcome; `worker_…` only from the claim that reserved the step."""
    kind = ask.evidence_kind
    return kind in COUNTS[ask.outcome] and (own_step or not kind.startswith("worker_"))


def lose_claim(job: Job, cause: str) -> Job:
    """§5, second row: the claim ends by takeover or revoke, and with it what its inflight step may mean."""
    if job.claim is None:
        return job
    after = replace(job, claim=None, ended=(*job.ended, (job.claim.fence, cause)))
    for ordinal, step in enumerate(job.steps):
        if step.state == "inflight":
            after = after.with_step(ordinal, worker_gone(job, step))
    return after


def worker_gone(job: Job, step: Step) -> Step:
    if job.marked and not step.dispatched:
        return step.back_to_pending()
    return replace(step, state="unknown")


def lapsed(job: Job, now: float) -> tuple[Job, int] | None:
    """§5, first row: the job after its lease ran out and the step that moved, or None when nothing moves."""
    ordinal = job.unsettled()
    if ordinal is None or job.claim is None or job.claim.live(now):
        return None
    step = job.steps[ordinal]
    if step.state != "inflight":
        return None
    if not job.marked or step.dispatched:
        return job.with_step(ordinal, replace(step, state="unknown")), ordinal
    if job.control == "run":
        return None
    return job.with_step(ordinal, step.back_to_pending(by_lapse=True)), ordinal


def settle(job: Job, ordinal: int, outcome: str, value: str) -> Verdict:
    """The step is final; the result by I3 and I4; kept testimony is weighed against the outcome."""
    step = job.steps[ordinal]
    disputed = step.disputed or any(said.contradicts(outcome, value) for said in step.testimony)
    after = job.with_step(ordinal, replace(step, state=outcome, value=value, disputed=disputed))
    if outcome == "rejected":
        after = replace(after, result="failed")
    elif all(each.state == "ok" for each in after.steps):
        after = replace(after, result="succeeded")
    fields = {"result": after.result}
    return Verdict("settled", job=after, kept=True, fields=fields, ordinal=ordinal, value=value)


def already_settled(job: Job, ask: Ask) -> Verdict:
    """A second word on a final step changes nothing, but may dispute it (§6)."""
    step = job.steps[ask.ordinal]
    if contradict(ask.outcome, ask.value, step.state, step.value or ""):
        job = job.with_step(ask.ordinal, replace(step, disputed=True))
    return Verdict("already_settled", 409, job, kept=True, ordinal=ask.ordinal)
