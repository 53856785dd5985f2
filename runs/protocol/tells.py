"""What an answer tells beside its status: each takes the world after the decision and what was asked.

Causes are told by code; the door that answers adds their words. Times are datetimes, rendered at the door.
"""

from typing import Any

from .states import Control, World


def spec_digest(w: World, ask: Any) -> dict[str, Any]:
    return {"spec_digest": ask.spec.digest}


def cascaded(w: World, ask: Any) -> dict[str, Any]:
    return {"cascaded": w.cascaded}


def result(w: World, ask: Any) -> dict[str, Any]:
    return {"result": w.at.result}


def held_by(w: World, ask: Any) -> dict[str, Any]:
    return {"holder": w.at.holder, "lease_expires_at": w.at.lease_expires_at}


def fence(w: World, ask: Any) -> dict[str, Any]:
    return {"fence": w.at.fence, "lease_expires_at": w.at.lease_expires_at}


def lost_by(w: World, ask: Any) -> dict[str, Any]:
    return {"cause": w.token.lost_by}


def cancel_cause(w: World, ask: Any) -> dict[str, Any]:
    return {"cause": w.at.cancel.cause if w.at.cancel else None}


def control(w: World, ask: Any) -> dict[str, Any]:
    return {"control": w.at.control}


def lease(w: World, ask: Any) -> dict[str, Any]:
    return {"lease_expires_at": w.at.lease_expires_at}


def paused(w: World, ask: Any) -> dict[str, Any]:
    return {"paused": w.at.paused_at is not None}


def stop_signal(w: World, ask: Any) -> dict[str, Any]:
    """The signal of an accepted cancel (section 7), null without one."""
    job, cancel = w.at, w.at.cancel
    if job.control is Control.RUN or cancel is None:
        return {"signal": None}
    heard = {"at": cancel.at, "grace_until": cancel.grace_until}
    if job.escalated_seq is None:
        return {"signal": {"seq": cancel.seq, "level": "stop", "cause": cancel.cause, **heard}}
    abort = {"seq": job.escalated_seq, "level": "abort", "cause": "settle_drain_timeout"}
    return {"signal": {**abort, "original_cause": cancel.cause, **heard}}


def signal(w: World, ask: Any) -> dict[str, Any]:
    """The one signal that is up, the highest: abort over stop over pause."""
    job = w.at
    if job.control is Control.RUN and job.paused_at is not None:
        pause = {"seq": job.paused_seq, "level": "pause", "cause": job.paused_cause, "at": job.paused_at}
        return {"signal": {**pause, "grace_until": None}}
    return stop_signal(w, ask)


def unsettled(w: World, ask: Any) -> dict[str, Any]:
    return {"ordinal": w.at.unsettled}


def out_now(w: World, ask: Any) -> dict[str, Any]:
    """The step that is out: a clue for recovery, not a permission to call its tool again."""
    return {"ordinal": w.at.position, "dispatched": w.at.now_at.marked}


def handed_out(w: World, ask: Any) -> dict[str, Any]:
    return {"ordinal": w.at.position, "step": dict(w.at.now_at.content), "dispatched": False}


def children(w: World, ask: Any) -> dict[str, Any]:
    return {"children": w.at.children_unfinished}


def proposal(w: World, ask: Any) -> dict[str, Any]:
    return {"proposal": w.proposal.id if w.proposal else None}


def sealed_generation(w: World, ask: Any) -> dict[str, Any]:
    return {"sealed_generation": w.sealed_generation}
