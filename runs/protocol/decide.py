"""How a table decides: the first row that fits. The tables themselves stand in `tables/`.

A row names when it applies, the word and HTTP code of its answer, whether a receipt is kept, what becomes of
the world, and which fields the answer tells. What a receipt's `detail` says of the change is derived here, by
comparing the job before and after, so that no effect can forget to tell.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .states import Job, World

Question = Callable[[World, Any], bool]
Verb = Callable[[World, Any], World]
Tell = Callable[[World, Any], dict[str, Any]]

KEPT = True  #: leaves a receipt
NOTHING = False  #: leaves none


@dataclass(frozen=True)
class Row:
    when: Question
    status: str
    code: int
    kept: bool = NOTHING
    then: Sequence[Verb] = ()
    tells: Sequence[Tell] = ()
    replayed: bool = False  #: it repeats an answer given before


Table = Sequence[Row]


@dataclass(frozen=True)
class Decision:
    """What was decided, before and after; `detail` is the change as a receipt tells it."""

    row: Row
    before: World
    after: World
    tells: dict[str, Any]

    @property
    def detail(self) -> dict[str, Any]:
        return changes(self.before.job, self.after.job)


def decide(table: Table, world: World, ask: Any) -> Decision:
    """The first row that fits, applied. Every table ends in a row that fits always."""
    row = next(row for row in table if row.when(world, ask))
    after = world
    for verb in row.then:
        after = verb(after, ask)
    if row.kept and after.job is not None:
        after = _numbered(world.job, after)
    tells: dict[str, Any] = {}
    for tell in row.tells:
        tells |= tell(after, ask)
    return Decision(row, world, after, tells)


def _numbered(before: Job | None, after: World) -> World:
    """The receipt takes the next number; a step whose state, testimony or dispute changed takes it as its
    version."""
    job = after.at
    seq = (before.seq if before else 0) + 1
    steps = {
        ordinal: replace(step, version=seq)
        if before and ordinal in before.steps and _weight(before, ordinal) != _weight(job, ordinal)
        else step
        for ordinal, step in job.steps.items()
    }
    return after.becomes(seq=seq, steps=steps)


def _weight(job: Job, ordinal: int) -> tuple[Any, ...]:
    step = job.steps[ordinal]
    return job.state(ordinal), step.testimony, step.disputed


def changes(before: Job | None, after: Job | None) -> dict[str, Any]:
    """What changed, in the words that `audit` replays: control, result, paused, fence, step, mark,
    disputed, …"""
    if before is None or after is None:
        return {}
    found: dict[str, Any] = {
        name: getattr(after, name)
        for name in ("control", "result", "fence", "too_late")
        if getattr(before, name) != getattr(after, name)
    }
    if before.paused_at != after.paused_at:
        found["paused"] = after.paused_at is not None
    for ordinal, step in after.steps.items():
        was, state = before.steps[ordinal], after.state(ordinal)
        if before.state(ordinal) != state:
            found["step"] = {"ordinal": ordinal, "from": before.state(ordinal), "to": state}
            if step.value is not None:
                found["step"]["value"] = step.value
        if was.disputed != step.disputed:
            found["disputed"] = {"ordinal": ordinal, "is": step.disputed}
        if not was.marked and step.marked:
            found["marked"] = ordinal
        if step.no_mark and not was.no_mark:
            found["no_mark"] = True
    return found
