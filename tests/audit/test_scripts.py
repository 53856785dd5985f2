"""Long scripts of commands that fit and commands that don't (tests/model): all of it is clean."""

from typing import Any

import pytest

from runs.audit import breaches, snapshot
from runs.errors import CancelboardError
from runs.models import Queue, Receipt
from runs.settle import one_pass
from tests.model.commands import QUEUES, ClaimOf, Command, Forged, ProposalOf
from tests.model.script import WITH_CLOCK, script

from .cast import Story, shape_of


class Player:
    """Plays a script on the real commands; claims and proposals are named by their turn."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.made: dict[tuple[type, str | None], list[str]] = {}

    def play(self, command: Command) -> None:
        if command.kind == "wait":
            self.story.later(**command.fields)
        elif command.kind == "settle":
            one_pass()
        else:
            self.ask(command)

    def ask(self, command: Command) -> None:
        asked = {name: self.real(value) for name, value in command.fields.items()}
        if command.kind == "submit":
            asked["job_id"] = command.job_id
        try:
            answer = self.story.ask(command.who, command.job_id, shape_of(command.kind).model_validate(asked))
        except (CancelboardError, ValueError):
            return  # refused without a trace: the scripts ask for that too
        for what, name in ((ClaimOf, "claim"), (ProposalOf, "proposal")):
            if answer.fields.get(name) and answer.status in ("claimed", "proposed"):
                self.made.setdefault((what, command.job_id), []).append(answer.fields[name])

    def real(self, value: Any) -> Any:
        if isinstance(value, Forged):
            return f"{value.fence}-{'0' * 32}"
        if not isinstance(value, ClaimOf | ProposalOf):
            return value
        made = self.made.get((type(value), value.job_id), [])
        return made[value.nth] if value.nth < len(made) else "9-0"


@pytest.mark.parametrize("seed", range(3))
def test_a_script_is_clean(story: Story, seed: int) -> None:
    for name, queue in QUEUES.items():
        wanted = {"id_prefix": queue.id_prefix or "", "reconcile_needs": queue.reconcile_needs}
        Queue.objects.update_or_create(tenant=story.tenant, name=name, defaults=wanted)
    player = Player(story)
    for command in script(seed, 150, WITH_CLOCK):
        player.play(command)
    assert Receipt.objects.count() > 50
    with snapshot():
        assert [str(breach) for breach in breaches()] == []
