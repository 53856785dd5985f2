"""Is what concurrent callers were told explained by *some* serial order of their commands?

An order explains a history when it keeps real time (what was answered before another was asked comes before
it), when each answer is the one the model gives at its place, and when the model ends as the tenant did.
The checkpoint of an ancestor is a transaction of its own: anywhere between the command that made it possible
and that command's answer.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from . import compare
from .asks import BODY
from .commands import CLOCK, Command, play_alone
from .state import Answer
from .world import World


@dataclass(frozen=True)
class Op:
    """A command, or the read `job`; when it was asked and answered, on one clock; and the answer.

    Claims are fences here, and a proposal is what the proposing answer called it.
    """

    command: Command
    http: int
    told: Any
    began: float = 0
    ended: float = inf

    def __str__(self) -> str:
        said = self.told.get("status") if isinstance(self.told, dict) else ""
        return (
            f"{self.began:.4f}-{self.ended:.4f} {self.command.who}: {self.command.kind} "
            f"{self.command.job_id or ''} {self.command.fields} -> {self.http} {said}"
        )


def by_fence(ops: Iterable[Op]) -> list[Op]:
    """The same, each claim as its fence: 0 where nobody was given such a token for that job."""
    ops = list(ops)
    issued = {
        (op.command.job_id, op.told["claim"]): op.told["fence"]
        for op in ops
        if op.command.kind == "claim" and op.http == 200
    }

    def read(op: Op) -> Op:
        command = op.command
        if "claim" not in command.fields:
            return op
        fence = issued.get((command.job_id, command.fields["claim"]), 0)
        return replace(op, command=replace(command, fields=command.fields | {"claim": fence}))

    return [read(op) for op in ops]


@dataclass(frozen=True)
class Ending:
    """What a reader sees of a job when all is over; `job` is None where there is none."""

    http: int
    job: Any = None
    receipts: Sequence[dict[str, Any]] = ()

    def differs(self, world: World, job_id: str) -> list[str]:
        found = compare.read_differs(world, job_id, self.http, self.job)
        if found or self.http != 200:
            return found
        rows = [compare.row(receipt) for receipt in self.receipts]
        return compare.unlike("receipts", rows, world.receipts(job_id))


@dataclass(frozen=True)
class Place:
    """How far an order has come. `owed`: stops that can be confirmed, each with the answer it comes before.
    `names`: the model's numbers of proposals."""

    done: tuple[int, ...]
    world: World
    owed: Mapping[str, float] = field(default_factory=dict)
    names: Mapping[Any, int] = field(default_factory=dict)

    def key(self) -> Hashable:
        owed, names = frozenset(self.owed.items()), frozenset(self.names.items())
        return frozenset(self.done), self.world.key(), owed, names


@dataclass
class History:
    """`endings` by job id; `world` as the tenant was before the first command; `names`: what the model calls
    the proposals that were there."""

    world: World
    ops: Sequence[Op]
    endings: Mapping[str, Ending]
    names: Mapping[Any, int] = field(default_factory=dict)
    dead: set[Hashable] = field(default_factory=set)
    looked_at: int = 0
    furthest: tuple[int, ...] = ()
    why: list[str] = field(default_factory=list)

    def orders(self) -> Iterator[tuple[int, ...]]:
        """Every order that explains it, as numbers into `ops`; those that a search has proved dead are not
        looked at again. Usually the first is all one wants."""
        return self._from(Place((), self.world.copy(), names=self.names))

    def order(self) -> list[Op]:
        """One order that explains it. Raises AssertionError with the whole story where there is none."""
        wrong = broken_promises(self.ops, self.endings.values())
        found = next(self.orders(), None)
        if found is None or wrong:
            raise AssertionError(self.story(wrong))
        return [self.ops[number] for number in found]

    def story(self, wrong: Iterable[str] = ()) -> str:
        lines = [*wrong, f"no serial order explains it ({self.looked_at} places looked at); the longest:"]
        lines += [f"  {self.ops[number]}" for number in self.furthest]
        rest = [str(op) for number, op in enumerate(self.ops) if number not in self.furthest]
        return "\n".join([*lines, "and then none of:", *(f"  {op}" for op in rest), *self.why])

    def _from(self, place: Place) -> Iterator[tuple[int, ...]]:
        key = place.key()
        if key in self.dead:
            return
        self.looked_at += 1
        if len(place.done) == len(self.ops) and not place.owed:
            self._remember(place, differences := self._ending_differs(place.world))
            if not differences:
                yield place.done
                return
        alive = False
        for onward in self._onward(place):
            for order in self._from(onward):
                alive = True
                yield order
        if not alive:
            self.dead.add(key)

    def _onward(self, place: Place) -> Iterator[Place]:
        left = [number for number in range(len(self.ops)) if number not in place.done]
        deadline = min([self.ops[number].ended for number in left] + list(place.owed.values()), default=inf)
        for number in sorted(left, key=lambda number: self.ops[number].ended):
            if self.ops[number].began <= deadline:
                yield from self._do(place, number)
        for job_id, due in place.owed.items():
            world = place.world.copy()
            world.acknowledge(world.jobs[job_id])
            yield replace(place, world=world, owed=owed(world, place.owed, due))

    def _do(self, place: Place, number: int) -> Iterator[Place]:
        op, world = self.ops[number], place.world.copy()
        command = op.command
        if command.fields.get("proposal") is not None:
            known = place.names.get(command.fields["proposal"], 0)
            command = replace(command, fields=command.fields | {"proposal": known})
        names, expected = place.names, None
        if command.kind == "job":
            differences = compare.read_differs(world, str(command.job_id), op.http, op.told)
        elif (expected := play_alone(command, world)) is None:
            differences = []  # the clock answers nothing
        else:
            differences = answer_differs(world, command, expected, op)
        if differences:
            self._remember(place, [f"{op}: {line}" for line in differences])
            return
        if expected is not None and expected.status == "proposed" and not expected.replayed:
            names = {**names, op.told["proposal"]: expected.fields["proposal"]}
        yield Place((*place.done, number), world, owed(world, place.owed, op.ended), names)

    def _remember(self, place: Place, differences: list[str]) -> None:
        """What kept the longest order from going on."""
        if len(place.done) > len(self.furthest):
            self.furthest, self.why = place.done, []
        if len(place.done) == len(self.furthest):
            self.why += differences

    def _ending_differs(self, world: World) -> list[str]:
        strangers = set(world.jobs) - set(self.endings)
        found = compare.unlike("jobs that nobody looked at", strangers, set())
        return found + [
            f"at the end {job_id}: {line}"
            for job_id, ending in self.endings.items()
            for line in ending.differs(world, job_id)
        ]


def owed(world: World, before: Mapping[str, float], due: float) -> dict[str, float]:
    """The stops that can be confirmed now. What was owed before keeps its date."""
    able = [job_id for job_id, job in world.jobs.items() if world.can_acknowledge(job)]
    return {job_id: before.get(job_id, due) for job_id in able}


def answer_differs(world: World, command: Command, expected: Answer, op: Op) -> list[str]:
    found = compare.answer(expected, op.http, op.told)
    if found or command.kind in CLOCK or expected.status is None or expected.http == 403:
        return found
    if expected.replayed and command.kind in BODY:
        return []  # the very same words: broken_promises
    return compare.receipt_differs(world, command, expected, op.told.get("receipt", "missing"))


def broken_promises(ops: Iterable[Op], endings: Iterable[Ending]) -> list[str]:
    """What holds in any order: chains; one answer for one event id, for ever; a claim's token told once."""
    found = [line for ending in endings for line in compare.chain(ending.receipts)]
    words: dict[str, Any] = {}
    tokens: list[str] = []
    for op in ops:
        if not isinstance(op.told, dict):
            continue
        event_id = op.command.fields.get("event_id")
        receipt = op.told.get("receipt")
        if event_id is not None and receipt is not None:
            said = {name: value for name, value in op.told.items() if name != "replayed"}
            found += compare.unlike(f"what {event_id} is told", said, words.setdefault(event_id, said))
        if op.command.kind == "claim" and op.told.get("status") == "claimed":
            found += compare.token_differs(op.told["claim"], op.told["fence"])
            tokens.append(op.told["claim"])
    return found + compare.unlike("tokens", len(set(tokens)), len(tokens))
