"""Walks to every place that can be reached from an empty world, and asks the laws at each step of the way."""

from collections import Counter, deque
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

from runs.protocol.asks import Submit
from runs.protocol.decide import Decision, Row, decide
from runs.protocol.states import Job, Parent, Proposal, World
from runs.protocol.tables import TABLES
from tests.protocol.composed import CHECKPOINT, LAPSE, carried_out

from .bound import Bound
from .laws import broken
from .moves import said_at, spec_of
from .place import FUTURE, NOW, PAST, Place, plain, plain_proposal
from .standing import wrong


@dataclass
class Found:
    """What a search saw: its places and how they follow each other, the rows that decided, every breach."""

    places: dict[Hashable, Place] = field(default_factory=dict)
    before: dict[Hashable, set[Hashable]] = field(default_factory=dict)  #: a place's predecessors
    decided: Counter[tuple[str, int]] = field(default_factory=Counter)  #: by command and row
    breaches: list[str] = field(default_factory=list)


def search(bound: Bound) -> Found:
    """Breadth first, until nothing new is found."""
    found, empty = Found(), Place()
    found.places[empty.key()] = empty
    waiting = deque([empty])
    while waiting:
        here = waiting.popleft()
        reached = steps_from(here, bound, found) | passing_time(here, bound, found)
        for key, place in reached.items():
            found.before.setdefault(key, set()).add(here.key())
            if key not in found.places:
                found.places[key] = place
                waiting.append(place)
                found.breaches += [f"{name} at {place}" for name in wrong(place)]
    return found


def steps_from(here: Place, bound: Bound, found: Found) -> dict[Hashable, Place]:
    """Where each command leads from here, every decision on the way judged."""
    reached: dict[Hashable, Place] = {}
    for world, ask in said_at(here, bound):
        there = carry_out(here, world, ask, found)
        if there and within(there, bound):
            reached[there.key()] = there
    return reached


def within(place: Place, bound: Bound) -> bool:
    said = sum(len(step.testimony) for step in place.job.steps.values()) if place.job else 0
    return said <= bound.words


def carry_out(here: Place, world: World, ask: Any, found: Found) -> Place | None:
    """The place that a command leads to; None where it changes nothing that a place shows.

    A row without verbs changes nothing (test_decide), so the way is cut short there: most are refusals.
    """
    row = first_row(world, ask)
    lapses = ask.kind == "reconcile" and here.job and first_row(world, LAPSE).then
    if not row.then and not lapses:
        found.decided[ask.kind, id(row)] += 1
        return None
    made = carried_out(world, ask)
    for asked, decision in made:
        found.decided[asked.kind, id(decision.row)] += 1
        found.breaches += [f"{name}: {asked!r} at {here}" for name in broken(asked, decision)]
    return after(here, made)


def first_row(world: World, ask: Any) -> Row:
    return next(row for row in TABLES[ask.kind] if row.when(world, ask))


def after(here: Place, made: list[tuple[Any, Decision]]) -> Place:
    world = made[-1][1].after
    statuses = [decision.row.status for _, decision in made]
    issued = {*here.issued, *([world.job.fence] if "claimed" in statuses and world.job else [])}
    if world.job is None:
        return replace(here, sealed=world.sealed_generation >= 0)
    settlings = here.settlings or (0,) * world.job.n_steps
    proposal = here.proposal
    for ask, decision in made:
        if decision.row.status == "settled":
            settlings = _one_more(settlings, settled_ordinal(ask, decision))
        if decision.row.status == "proposed":
            proposal = entered(ask, decision.after.at)
        elif decision.before.proposal is not decision.after.proposal:
            proposal = decision.after.proposal
    job, tokens = plain(world.job, issued)
    return Place(
        job=job,
        issued=tokens,
        cancels=here.cancels + sum(status in ("requested", "tombstoned") for status in statuses),
        settlings=settlings,
        proposal=proposal and plain_proposal(proposal, world.job),
        sealed=world.sealed_generation >= 0,
    )


def settled_ordinal(ask: Any, decision: Decision) -> int:
    said: Any = decision.before.proposal if ask.kind == "approve" else ask
    return int(said.ordinal)


def _one_more(counts: tuple[int, ...], ordinal: int) -> tuple[int, ...]:
    return tuple(count + (index == ordinal) for index, count in enumerate(counts))


def entered(ask: Any, job: Job) -> Proposal:
    """The proposal that runs/commands keeps for an answer `proposed`."""
    version = job.steps[ask.ordinal].version
    return Proposal("p", ask.ordinal, ask.outcome, ask.value, version, "open", FUTURE)


def passing_time(here: Place, bound: Bound, found: Found) -> dict[Hashable, Place]:
    """A lease ends, a proposal grows a day old, a child joins, a child ends."""
    job = here.job
    if job is None:
        return {}
    reached = []
    if job.lease_is_live(NOW):
        reached.append(replace(here, job=replace(job, lease_expires_at=PAST)))
    if here.proposal and here.proposal.expires_at > NOW:
        reached.append(replace(here, proposal=replace(here.proposal, expires_at=PAST)))
    if bound.children:
        reached += children_moves(here, job, bound, found)
    return {place.key(): place for place in reached}


def children_moves(here: Place, job: Job, bound: Bound, found: Found) -> list[Place]:
    """A child is admitted only where submit says so; its end checkpoints its parent."""
    if job.children_unfinished:
        alone = replace(here, job=replace(job, children_unfinished=0))
        checked = carry_out(alone, World(now=NOW, job=alone.job), CHECKPOINT, found)
        return [checked or alone]
    is_open = job.admitted and job.control == "run" and job.result == "open"
    asked = World(now=NOW, parent=Parent(open=is_open))
    child = decide(TABLES["submit"], asked, Submit(job_id="child", spec=spec_of(bound)))
    admitted = child.row.status == "admitted"
    return [replace(here, job=replace(job, children_unfinished=1))] if admitted else []
