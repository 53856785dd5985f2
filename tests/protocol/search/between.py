"""What changed between a job and the same job after one decision; the laws ask with these words."""

from collections.abc import Callable
from typing import Any

from runs.protocol.decide import Decision
from runs.protocol.states import Control, Job, State

from .standing import FINAL, states


class Between:
    """A decision on a known job, laid open: `before` and `after` it, and which steps moved."""

    def __init__(self, ask: Any, made: Decision, before: Job, after: Job) -> None:
        self.ask, self.made, self.before, self.after = ask, made, before, after
        self.status, self.code, self.kept = made.row.status, made.row.code, made.row.kept
        self.detail = made.detail
        self.world, self.token = made.before, made.before.token
        self.was, self.now = states(before), states(after)
        #: The steps whose state changed: ordinal, from, to.
        self.moves = [
            (n, was, now)
            for n, (was, now) in enumerate(zip(self.was, self.now, strict=True))
            if was is not now
        ]
        self.newly_marked = [
            n for n, step in after.steps.items() if step.marked and not before.steps[n].marked
        ]

    def moved_to(self, state: State) -> list[tuple[int, State]]:
        return [(n, was) for n, was, now in self.moves if now is state]

    @property
    def settled(self) -> list[tuple[int, State, State]]:
        return [move for move in self.moves if move[2] in FINAL]

    @property
    def nothing_happened(self) -> bool:
        """Control, result, step states and values are the same."""
        before, after = self.before, self.after
        is_same = before.control is after.control and before.result is after.result and not self.moves
        return is_same and all(step.value == before.steps[n].value for n, step in after.steps.items())

    @property
    def said(self) -> Any:
        """The outcome that is asked for: in a proposal, where one is approved."""
        return self.world.proposal if self.ask.kind == "approve" else self.ask

    @property
    def is_over(self) -> bool:
        """A cancel was accepted, or the result is final."""
        return self.before.control is not Control.RUN or self.before.result != "open"


Law = Callable[[Between], bool]
