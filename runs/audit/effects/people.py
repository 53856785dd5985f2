"""What people's receipts did: cancel, revoke, pause, resume, reconcile, close a dispute. Pure."""

from datetime import timedelta

from ..receipts import Read
from ..state import Cancel, Fence, Job
from .conditions import outcome, reconcilable, running


def requested(job: Job, r: Read) -> None:
    running(job, r)
    keep_cancel(job, r)
    job.accepted_cancels += 1
    job.turn("control", "requested")


def keep_cancel(job: Job, r: Read) -> None:
    """The cancel that was accepted, or the first that came too late."""
    job.cancel = Cancel(
        seq=r.seq,
        cause=r.asked("cause", str),
        note=r.asked("note", str),
        asked_by=r.asked("asked_by", str),
        by=r.actor,
        at=r.at,
        grace_until=r.at + timedelta(seconds=r.asked("grace_seconds", int)),
    )


def came_too_late(job: Job, r: Read) -> None:
    job.must(r, "I9", "control", "run", job.control)
    job.must(r, "I9", "that the result is final", True, job.result != "open")
    if not job.too_late:
        keep_cancel(job, r)
        job.turn("too_late", True)


def revoked(job: Job, r: Read) -> None:
    job.must(r, "I9", "that somebody holds the claim", True, bool(job.holder))
    job.leave_behind(r)
    job.turn("fence", job.fence + 1)
    job.holder = ""
    job.new_fence = Fence(job.fence, "", None, r.asked("cause", str), r.at)


def paused(job: Job, r: Read) -> None:
    running(job, r)
    job.must(r, "I9", "paused", None, job.paused)
    job.paused, job.told["paused"] = (r.at, r.seq, r.asked("cause", str)), True


def resumed(job: Job, r: Read) -> None:
    running(job, r)
    job.must(r, "I9", "that the job is paused", True, job.paused is not None)
    job.paused, job.told["paused"] = None, False


def reconciled(job: Job, r: Read) -> None:
    ordinal = r.asked("ordinal", int)
    reconcilable(job, r, ordinal)
    job.settle(r, ordinal, outcome(r), r.asked("value", str))


def dispute_closed(job: Job, r: Read) -> None:
    """Clears the flag and the testimony's claim on it, not the records."""
    ordinal = r.asked("ordinal", int)
    step = job.step(r, ordinal)
    job.must(r, "I9", f"disputed of step {ordinal}", True, step.disputed)
    job.dispute(r, ordinal, False)
    step.testimony.clear()
    step.closed.append(r.seq)
