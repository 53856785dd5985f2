"""What several receipts have in common. Pure."""

from ..findings import UnreadableError
from ..receipts import Read
from ..state import SETTLED, Job


def running(job: Job, r: Read) -> None:
    job.must(r, "I9", "control", "run", job.control)
    job.must(r, "I9", "result", "open", job.result)


def own_fence(job: Job, r: Read) -> int:
    """An accepted worker receipt carries the job's fence at that moment (I12), which somebody holds."""
    fence = r.asked("claim", int)
    job.must(r, "I12", "fence", fence, job.fence)
    job.must(r, "I12", "that somebody holds the claim", True, bool(job.holder))
    return fence


def outcome(r: Read) -> str:
    said = r.asked("outcome", str)
    if said not in SETTLED:
        raise UnreadableError(f"body.outcome of {r.receipt}", "ok or rejected", said)
    return said


def reconcilable(job: Job, r: Read, ordinal: int) -> None:
    """Unsettled; or pending, disputed and next in line, with nothing unsettled in an open job."""
    step = job.step(r, ordinal)
    next_and_disputed = step.state == "pending" and step.disputed and ordinal == job.position
    can = job.unsettled == ordinal or (next_and_disputed and job.result == "open")
    job.must(r, "I9", f"that step {ordinal} can be settled", True, can)
