"""What can be seen of a job: HTTP.md's job without times, ids and digests, its headline, its signal (§7)."""

from __future__ import annotations

from typing import Any

from .state import Job


def signal(job: Job) -> dict[str, Any] | None:
    """The highest signal that is out: abort > stop > pause."""
    if job.cancel is not None and job.cancel.escalated is not None:
        told = {"level": "abort", "seq": job.cancel.escalated, "cause": "settle_drain_timeout"}
        return told | {"original_cause": job.cancel.cause}
    if job.cancel is not None:
        return {"level": "stop", "seq": job.cancel.seq, "cause": job.cancel.cause}
    if job.paused is not None and job.result == "open":
        return {"level": "pause", "seq": job.paused[0], "cause": job.paused[1]}
    return None


def headline(job: Job) -> str:
    """The first that applies (HTTP.md)."""
    states = [step.state for step in job.steps]
    if not job.admitted:
        return "blocked_before_start"
    if job.control == "acknowledged":
        ends = {"succeeded": "completed_despite_cancel", "failed": "stopped_after_failure"}
        return ends.get(job.result, "stopped")
    if job.control == "requested" and "unknown" in states:
        return "verifying_unknown"
    if job.control == "requested":
        return "verifying" if "inflight" in states else "stopping"
    if job.result != "open":
        done = "completed" if job.result == "succeeded" else "failed"
        return done + ("_cancel_too_late" if job.too_late else "")
    if "unknown" in states:
        return "outcome_unknown"
    if "inflight" in states:
        return "working"
    return "paused" if job.paused is not None else "ready"


def show(job: Job, now: float, children_unfinished: int) -> dict[str, Any]:
    claim = job.claim
    return {
        "admitted": job.admitted,
        "control": job.control,
        "result": job.result,
        "paused": job.paused is not None,
        "headline": headline(job),
        "disputed": any(step.disputed for step in job.steps),
        "steps": [
            {
                "ordinal": ordinal,
                "state": step.state,
                "value": step.value,
                "dispatched": step.dispatched,
                "disputed": step.disputed,
                "settled_by": step.settled_by,
                "testimony": [
                    {name: getattr(said, name) for name in ("seq", "worker", "fence", "outcome", "value")}
                    for said in step.testimony
                ],
            }
            for ordinal, step in enumerate(job.steps)
        ],
        "unsettled": job.unsettled(),
        "claim": claim and {"worker": claim.worker, "fence": claim.fence, "live": claim.live(now)},
        "children_unfinished": children_unfinished,
        "blocked_submits": job.blocked,
        "seq": job.seq,
    }
