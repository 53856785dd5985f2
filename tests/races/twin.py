"""The scene on the reference model: the same stories, told to tests/model."""

from typing import Any

from tests.model.commands import Command, play
from tests.model.state import Answer, Queue
from tests.model.world import World

from .pairs import Asked, Lose, Settle, Work
from .scene import AGO, NEEDS, Stage

#: What w1 needs for a command; anything else is `execute`.
NEEDED = {"cancel": "cancel", "submit": "submit"}


class Rights(World):
    """A world in which an action can be taken away from w1."""

    lost: frozenset[str] = frozenset()

    def command(self, kind: str, *, who: str = "p1", now: float | None = None, **fields: Any) -> Answer:
        if kind == "lose":
            self.lost |= {fields["action"]}
            return Answer(200, None)
        if who == "w1" and NEEDED.get(kind, "execute") in self.lost:
            return Answer(403, None)
        return super().command(kind, who=who, now=now, **fields)

    def key(self) -> Any:
        return super().key(), self.lost


class Twin(Stage):
    def __init__(self, story: Work) -> None:
        super().__init__()
        self.world = Rights({name: Queue(reconcile_needs=needs) for name, needs in NEEDS.items()})
        story(self)
        self.world.now = AGO.total_seconds()

    def claim(self, job_id: str, nth: int) -> int:
        fence, _ = self.world.jobs[job_id].issued[nth - 1]
        return fence

    def proposal(self, nth: int) -> int:
        return nth + 1

    def do(self, command: str, job_id: str | None = "j", who: str = "w1", **body: Any) -> Any:
        return play(self.command(Asked(command, job_id, who, body)), self.world)

    told = do

    def command(self, side: Asked | Settle | Lose) -> Command:
        match side:
            case Asked(kind, job_id, who, body):
                body = self.filled(kind, job_id, body)
                body.pop("job_id", None)
                return Command(kind, job_id, who, body)
            case Settle():
                return Command("settle", None, "system")
            case Lose(action):
                return Command("lose", None, "ada", {"action": action})
