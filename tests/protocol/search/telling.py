"""The laws of telling: a receipt's detail holds all that changed, so that replaying it gives the job (I9)."""

from typing import Any

from runs.protocol.states import Job, State

from .between import Between, Law

WHOLE = ("control", "result", "fence", "too_late")


def shown(job: Job, states: list[State]) -> dict[str, Any]:
    """What a replay has to find again."""
    steps = job.steps.values()
    return {name: getattr(job, name) for name in WHOLE} | {
        "paused": job.paused_at is not None,
        "states": list(states),
        "values": [step.value for step in steps],
        "marked": [step.marked for step in steps],
        "disputed": [step.disputed for step in steps],
    }


def the_receipt_tells_all(c: Between) -> bool:
    """What a reader makes of the job before and the detail alone is the job after."""
    facts, detail = shown(c.before, c.was), c.detail
    facts |= {name: detail[name] for name in (*WHOLE, "paused") if name in detail}
    if "step" in detail:
        step = detail["step"]
        facts["states"][step["ordinal"]] = step["to"]
        facts["values"][step["ordinal"]] = step.get("value")
    if "marked" in detail:
        facts["marked"][detail["marked"]] = True
    if "disputed" in detail:
        facts["disputed"][detail["disputed"]["ordinal"]] = detail["disputed"]["is"]
    return facts == shown(c.after, c.now)


def a_move_is_told_from_where_it_began(c: Between) -> bool:
    told = c.detail.get("step")
    return told is None or told["from"] == c.was[told["ordinal"]]


def a_missing_mark_is_told(c: Between) -> bool:
    """`ok` without a mark in a marked job."""
    unsent = [n for n, _, to in c.settled if to is State.OK and not c.before.steps[n].marked]
    return ("no_mark" in c.detail) == bool(unsent and c.before.marked)


TELLING: tuple[Law, ...] = (the_receipt_tells_all, a_move_is_told_from_where_it_began, a_missing_mark_is_told)
