"""Whatever is asked of the model, in any order, PROTOCOL.md §1 holds and nothing goes back."""

import pytest

from .asks import BODY
from .commands import QUEUES, Command, for_model, play
from .invariants import breaches, went_back
from .script import OVER_HTTP, WITH_CLOCK, script
from .world import World

pytestmark = pytest.mark.pure


@pytest.mark.parametrize("weights", [OVER_HTTP, WITH_CLOCK], ids=["without the clock", "with the clock"])
def test_invariants_hold_after_every_command(weights: dict[str, int]) -> None:
    for seed in range(80):
        world = World(QUEUES)
        for command in script(seed, 60, weights):
            before = world.copy()
            play(command, world)
            assert breaches(world) == [], (seed, command)
            assert went_back(before, world) == [], (seed, command)


def test_a_refusal_leaves_control_result_steps_and_fence_alone() -> None:
    """But for a cascade, which reaches those below whatever the job itself is answered (§9)."""
    for seed in range(60):
        world = World(QUEUES)
        for command in script(seed, 60):
            before = world.copy()
            answer = play(command, world)
            if answer is not None and answer.http >= 400 and not command.fields.get("cascade"):
                assert shape(before) == shape(world), (seed, command, answer)


def shape(world: World) -> object:
    """What a refusal must not touch, job by job (testimony and disputes it may)."""
    return {
        job.job_id: (job.control, job.result, job.fence, [(step.state, step.value) for step in job.steps])
        for job in world.jobs.values()
    }


def test_an_exact_replay_changes_nothing_and_says_the_same() -> None:
    for seed in range(40):
        world = World(QUEUES)
        first: dict[str, tuple[Command, object]] = {}
        for command in script(seed, 60, WITH_CLOCK):
            answer = play(command, world)
            if command.kind in BODY and answer is not None and answer.receipt_kept:
                first[command.fields["event_id"]] = command, (answer.http, answer.status, answer.fields)
        before = world.key()
        for command, said in first.values():
            again = world.do(command.kind, who="p3", **for_model(command, world))
            assert (again.http, again.status, again.fields) == said, (seed, command)
            assert again.replayed
            assert not again.receipt_kept
        assert world.key() == before


def test_a_copy_goes_its_own_way() -> None:
    world = World(QUEUES)
    commands = script(1, 40)
    for command in commands[:20]:
        play(command, world)
    twin, before = world.copy(), world.key()
    assert twin.key() == before
    for command in commands[20:]:
        play(command, twin)
    assert world.key() == before
    assert twin.key() != before
