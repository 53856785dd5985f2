"""I1 to I8 and I12 of PROTOCOL.md §1, asked of a model world; and what never goes back between two."""

from __future__ import annotations

from .state import SETTLED, UNSETTLED, Job
from .world import World

ORDER = {"run": 0, "requested": 1, "acknowledged": 2}


def breaches(world: World) -> list[str]:
    """The names of the invariants that do not hold, with the job."""
    return [f"{name} {job.job_id}" for job in world.jobs.values() for name in broken(world, job)]


def broken(world: World, job: Job) -> list[str]:
    states = [step.state for step in job.steps]
    beyond = [n for n, state in enumerate(states) if state != "pending"]
    holds = {
        "I1": sum(state in UNSETTLED for state in states) <= 1,
        "I2": all(set(states[:n]) <= {"ok"} for n in beyond),
        "I3": (job.result == "succeeded") == (job.admitted and set(states) == {"ok"}),
        "I4": (job.result == "failed") == ("rejected" in states),
        "I5": job.control != "acknowledged" or at_rest(world, job),
        "I6": job.admitted or is_tombstone(job),
        "I7": (job.control != "run") == (accepted_cancels(job) == 1) and accepted_cancels(job) <= 1,
        "I8": all(settled_once(job, n) for n, state in enumerate(states) if state in SETTLED),
        "I10": [receipt.seq for receipt in job.receipts] == list(range(1, job.seq + 1)),
        "I12": fences_grow(job) and fenced(job),
        "§5": all(job.is_newest(step.fence or 0) for step in job.steps if step.state == "inflight"),
        "acknowledged as soon as possible": job.control != "requested" or not at_rest(world, job),
    }
    return [name for name, good in holds.items() if not good]


def at_rest(world: World, job: Job) -> bool:
    return job.unsettled() is None and world.children_unfinished(job.job_id) == 0


def is_tombstone(job: Job) -> bool:
    untouched = {step.state for step in job.steps} == {"pending"} and not job.issued and job.claim is None
    return (job.control, job.result) == ("acknowledged", "open") and untouched


def accepted_cancels(job: Job) -> int:
    return sum(r.kind == "cancel" and r.status in ("requested", "tombstoned") for r in job.receipts)


def settled_once(job: Job, ordinal: int) -> bool:
    told = [r for r in job.receipts if r.status == "settled" and r.ordinal == ordinal]
    return [(r.seq, r.value) for r in told] == [(job.steps[ordinal].settled_by, job.steps[ordinal].value)]


def fences_grow(job: Job) -> bool:
    fences = [receipt.job_fence for receipt in job.receipts]
    return fences == sorted(fences) and sorted(set(job.issued)) == list(job.issued)


def fenced(job: Job) -> bool:
    accepted = [r for r in job.receipts if r.fence is not None and r.http < 300]
    return all(r.fence == r.job_fence for r in accepted)


def went_back(before: World, after: World) -> list[str]:
    """What must not happen between two moments: control and final things go back, receipts change."""
    return [job.job_id for job in before.jobs.values() if not never_goes_back(job, after.jobs[job.job_id])]


def never_goes_back(job: Job, later: Job) -> bool:
    final = all(
        (was.state, was.value) == (now.state, now.value)
        for was, now in zip(job.steps, later.steps, strict=True)
        if was.state in SETTLED
    )
    forward = ORDER[job.control] <= ORDER[later.control] and job.result in ("open", later.result)
    return final and forward and job.fence <= later.fence and later.receipts[: job.seq] == job.receipts
