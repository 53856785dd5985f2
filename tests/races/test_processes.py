"""Two processes that meet: whatever each is told, and all that is kept, the reference model says so too, in
some order of the two. Each order is forced once by a barrier; free runs tell how often each happened.
"""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from runs.audit import breaches, snapshot
from runs.errors import CancelboardError
from runs.models import Job
from runs.queries import jobs, receipts
from tests.model.linear import Ending, History, Op
from tests.support.databases import Database
from tests.support.scale import scale

from .meeting import is_stuck, wait_until
from .pairs import PAIRS, Pair
from .processes import Process, asked
from .scene import Scene, told
from .twin import Twin

FREE = scale(1, 20)
WORDS = {frozenset({0}): "the first", frozenset({1}): "the second", frozenset({0, 1}): "either explains it"}
TALLY: dict[str, Counter[str]] = {}  #: who came first in free runs


def endings(scene: Scene) -> dict[str, Ending]:
    """Of the jobs that there are, and of those that a story may have named."""
    known = Job.objects.filter(tenant=scene.tenant).values_list("job_id", flat=True)
    return {job_id: ending(scene, job_id) for job_id in {"j", "k", "p", *known}}


def ending(scene: Scene, job_id: str) -> Ending:
    reader = scene.actors["lena"]
    try:
        return Ending(200, jobs.one(reader, job_id), receipts.of_job(reader, job_id, 0, 200)["receipts"])
    except CancelboardError as error:
        return Ending(error.http)


def came_first(pair: Pair, scene: Scene, told: Sequence[list[Any]]) -> set[int]:
    """By each order that explains what the two were told and what is kept now."""
    twin = Twin(pair.story)
    commands = [twin.command(side) for side in pair.sides]
    ops = [Op(command, *answer[2:]) for command, (answer,) in zip(commands, told, strict=True)]
    proposals = range(1, len(scene.proposals) + 1)
    history = History(twin.world, ops, endings(scene), dict(zip(proposals, proposals, strict=True)))
    history.order()
    return {order[0] for order in history.orders()}


def forced(database: Database, pair: Pair, two: Sequence[Process], leads: int) -> set[int]:
    """The leader has decided and written, and has not committed, when the other one begins. Where the other
    need not wait for it (a child's row and its parent's are locked apart), once more one after the other."""
    scene = told(pair.story)
    leader, other = two[leads], two[1 - leads]
    leader.prepare(database, [asked(scene, pair.sides[leads])], stop=True)
    other.prepare(database, [asked(scene, pair.sides[1 - leads])])
    leader.go()
    leader.expect("asked")
    leader.expect("stopped")
    other.go()
    other.expect("asked")
    wait_until(lambda: other.over or is_stuck(True))
    waited = not other.over
    assert waited or pair.goes_on, "the other one did not wait"
    leader.go()
    came = came_first(pair, scene, [process.answers() for process in two])
    return came if waited else in_turn(database, pair, two, leads)


def in_turn(database: Database, pair: Pair, two: Sequence[Process], leads: int) -> set[int]:
    scene, answers = told(pair.story), {}
    for number in (leads, 1 - leads):
        two[number].prepare(database, [asked(scene, pair.sides[number])])
        two[number].go()
        answers[number] = two[number].answers()
    return came_first(pair, scene, [answers[0], answers[1]])


def free(database: Database, pair: Pair, two: Sequence[Process]) -> set[int]:
    scene = told(pair.story)
    for process, side in zip(two, pair.sides, strict=True):
        process.prepare(database, [asked(scene, side)])
    for process in random.sample(two, 2):
        process.go()
    return came_first(pair, scene, [process.answers() for process in two])


@pytest.mark.prove
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_each_order_forced_and_then_free(real_db: Database, pair: Pair, two: list[Process]) -> None:
    for leads in (0, 1):
        assert leads in forced(real_db, pair, two, leads), "the barrier did not hold"
    TALLY[pair.name] = Counter(WORDS[frozenset(free(real_db, pair, two))] for _ in range(FREE))
    with snapshot():
        assert list(breaches()) == []
