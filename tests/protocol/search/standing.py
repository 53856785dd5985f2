"""What is true of every place: the invariants of protocol.md, section 1, that are properties of a state.

Asked of the steps' states one by one, not of the cursor, so that the cursor itself is on trial.
"""

from runs.protocol.states import Control, Job, Result, State

from .place import Place

UNSETTLED = {State.INFLIGHT, State.UNKNOWN}
FINAL = {State.OK, State.REJECTED}


def states(job: Job) -> list[State]:
    return [job.state(ordinal) for ordinal in range(job.n_steps)]


def wrong(place: Place) -> list[str]:
    """The names of the invariants that do not hold here."""
    job = place.job
    if job is None:
        return []
    found = states(job)
    beyond_pending = [n for n, state in enumerate(found) if state is not State.PENDING]
    at_rest = not UNSETTLED & set(found) and not job.children_unfinished
    holds = {
        "I1": sum(state in UNSETTLED for state in found) <= 1,
        "I2": all(set(found[:n]) <= {State.OK} for n in beyond_pending),
        "I3": (job.result is Result.SUCCEEDED) == (job.admitted and set(found) == {State.OK}),
        "I4": (job.result is Result.FAILED) == (State.REJECTED in found),
        "I5": job.control is not Control.ACKNOWLEDGED or at_rest,
        "I6": job.admitted or is_tombstone(place, job),
        "I7": place.cancels == (job.control is not Control.RUN),
        "I8": all(settled_once(place, job, n) for n in range(job.n_steps)),
        "a stop is confirmed as soon as nothing is out": job.control is not Control.REQUESTED or not at_rest,
        "a pending step keeps nothing of a reservation": all(is_blank(job, n) for n in range(job.n_steps)),
        "an unmarked job has no marks": job.marked or not any(step.marked for step in job.steps.values()),
        "no holder, no lease": bool(job.holder) == (job.lease_expires_at is not None),
        "a step is out only by a claim": job.unsettled is None or job.now_at.reserved_by is not None,
    }
    return [name for name, holds_here in holds.items() if not holds_here]


def is_tombstone(place: Place, job: Job) -> bool:
    untouched = set(states(job)) == {State.PENDING} and job.fence == 0 and not job.holder and not place.issued
    return job.control is Control.ACKNOWLEDGED and job.result is Result.OPEN and untouched


def settled_once(place: Place, job: Job, ordinal: int) -> bool:
    """One settling receipt and a value, or neither."""
    is_final = job.state(ordinal) in FINAL
    return place.settlings[ordinal] == is_final == (job.steps[ordinal].value is not None)


def is_blank(job: Job, ordinal: int) -> bool:
    """A step that is pending has no mark, no attempt, no fence and no word of a claim."""
    step = job.steps[ordinal]
    kept = (step.reserved_by, step.attempt, step.dispatched_at, step.dispatch_attempt, step.said_unknown)
    return job.state(ordinal) is not State.PENDING or kept == (None, None, None, None, False)
