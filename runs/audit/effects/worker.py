"""What a worker's receipts did: claim, reserve, dispatch, report, release. Pure."""

from ..receipts import Read
from ..state import SETTLED, Fence, Job, contradict
from .conditions import outcome, own_fence, running


def claimed(job: Job, r: Read) -> None:
    job.must(r, "I6", "admitted", True, job.admitted)
    job.must(r, "I9", "result", "open", job.result)
    job.must(r, "I9", "that the stop is not confirmed", True, job.control != "acknowledged")
    cause = r.decided("cause", str) if job.holder else ""  # a takeover has a named cause (section 8)
    job.leave_behind(r)
    job.turn("fence", job.fence + 1)
    job.holder, job.lease_seconds = r.asked("worker", str), r.asked("ttl_seconds", int)
    job.new_fence = Fence(job.fence, job.holder, r.actor, cause, r.at)


def reserved(job: Job, r: Read) -> None:
    fence, ordinal = own_fence(job, r), job.position
    running(job, r)
    job.must(r, "I9", "paused", None, job.paused)
    job.must(r, "I1", "unsettled step", None, job.unsettled)
    step = job.step(r, ordinal)
    job.must(r, "I9", f"disputed of step {ordinal}", False, step.disputed)
    step.reserved_by, step.reserved_at, step.attempt = fence, r.at, r.body.get("attempt")
    step.put_back = False
    job.move(r, ordinal, "inflight")


def dispatched(job: Job, r: Read) -> None:
    ordinal = _about_to_send(job, r)
    job.must(r, "I9", "control", "run", job.control)
    step, attempt = job.steps[ordinal], r.body.get("attempt")
    job.must(r, "I9", f"attempt of step {ordinal}", attempt, step.attempt)
    step.dispatched_at, step.dispatch_attempt = r.at, attempt
    job.told["marked"] = ordinal


def dispatch_refused(job: Job, r: Read) -> None:
    job.must(r, "I9", "that a stop was asked for", True, job.control != "run")
    job.put_back(r, _about_to_send(job, r))


def released(job: Job, r: Read) -> None:
    job.put_back(r, _about_to_send(job, r))


def _about_to_send(job: Job, r: Read) -> int:
    """The ordinal of a marked job's step that is out and was not marked as sent."""
    own_fence(job, r)
    ordinal = r.asked("ordinal", int)
    step = job.step(r, ordinal)
    job.must(r, "I9", "dispatch", "marked", job.spec["dispatch"])
    job.must(r, "I9", f"state of step {ordinal}", "inflight", step.state)
    job.must(r, "I9", f"mark of step {ordinal}", None, step.dispatched_at)
    return ordinal


def unresolved(job: Job, r: Read) -> None:
    fence, ordinal = own_fence(job, r), r.asked("ordinal", int)
    step = job.step(r, ordinal)
    job.must(r, "I9", "unsettled step", ordinal, job.unsettled)
    job.move(r, ordinal, "unknown")
    step.said_unknown = step.said_unknown or step.reserved_by == fence


def settled(job: Job, r: Read) -> None:
    own_fence(job, r)
    ordinal = r.asked("ordinal", int)
    job.must(r, "I9", "unsettled step", ordinal, job.unsettled)
    job.settle(r, ordinal, outcome(r), r.asked("value", str))


def fenced(job: Job, r: Read) -> None:
    """Testimony (section 6); on a pending step it says that something was sent which should not have been."""
    ordinal = r.asked("ordinal", int)
    step = job.step(r, ordinal)
    stale = r.asked("claim", int) < job.fence or step.put_back
    job.must(r, "I12", "that the reporting claim was lost", True, stale)
    job.must(r, "I9", f"that step {ordinal} is not settled", True, step.state not in SETTLED)
    step.testimony.append((r.asked("outcome", str), r.asked("value", str)))
    step.fenced.append(r.seq)
    step.version = r.seq
    if step.state == "pending":
        job.dispute(r, ordinal)


def already_settled(job: Job, r: Read) -> None:
    """A report, or a reconcile, that came after the outcome: it may contradict it."""
    ordinal = r.asked("ordinal", int)
    step = job.step(r, ordinal)
    job.must(r, "I9", f"that step {ordinal} is settled", True, step.state in SETTLED)
    if contradict(step.state, step.value or "", r.asked("outcome", str), r.asked("value", str)):
        job.dispute(r, ordinal)
