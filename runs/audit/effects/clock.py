"""What time brought: a stop was confirmed, a lease ended, a grace ended, a backup was restored. Pure."""

from ..findings import UnreadableError
from ..receipts import Read
from ..state import Fence, Job

LOST_CLAIMS = 1_000_000


def acknowledged(job: Job, r: Read) -> None:
    job.must(r, "I9", "control", "requested", job.control)
    job.must(r, "I5", "unsettled step", None, job.unsettled)
    job.turn("control", "acknowledged")


def lapsed(job: Job, r: Read) -> None:
    """Section 5, first row: unsent for certain only where a stop forbids the mark that it lacks."""
    ordinal = job.unsettled
    if ordinal is None:
        raise UnreadableError(f"unsettled step before {r.receipt}", "an ordinal", None)
    step = job.steps[ordinal]
    job.must(r, "I9", f"state of step {ordinal}", "inflight", step.state)
    r.decided("cause", str)
    if job.marked and step.dispatched_at is None:
        job.must(r, "I9", "that a stop was asked for", True, job.control != "run")
        job.put_back(r, ordinal, by_lapse=True)
    else:
        job.move(r, ordinal, "unknown")


def escalated(job: Job, r: Read) -> None:
    job.must(r, "I9", "control", "requested", job.control)
    job.must(r, "I9", "that a step is unsettled", True, job.unsettled is not None)
    job.must(r, "I9", "escalation", None, job.escalated_seq)
    if job.cancel:
        job.must(r, "I9", "that the grace is over", True, r.at >= job.cancel.grace_until)
    job.escalated_seq = r.seq


def restored(job: Job, r: Read) -> None:
    """Section 11: what could have been sent since then is unknown, and no fence given since then is newer."""
    job.must(r, "I9", "result", "open", job.result)
    job.must(r, "I9", "that its stop is not confirmed", True, job.control != "acknowledged")
    if job.control == "run" and job.current in ("pending", "inflight"):
        job.move(r, job.position, "unknown")
    else:
        job.leave_behind(r)
    job.turn("fence", job.fence + LOST_CLAIMS)
    cause = "work_claim_lost" if job.holder else ""
    job.holder = ""
    job.new_fence = Fence(job.fence, "", None, cause, r.at)
