"""The checker of histories believes what some order explains, and nothing else."""

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from .asks import BODY
from .commands import QUEUES, Command
from .driver import Driver
from .echo import Echo
from .linear import Ending, History, Op, by_fence
from .script import OVER_HTTP, script
from .told import spec
from .world import World

pytestmark = pytest.mark.pure

SEEDS = range(12)
COMMANDS = {*BODY, "submit", "claim", "heartbeat", "reserve", "dispatch", "checkpoint", "job"}


def recorded(seed: int) -> History:
    """A script played one by one on an echo, told as if its second half had come from four at once."""
    rng = random.Random(seed)
    echo, ops = Echo(), []

    def door(kind: str, job_id: str | None, body: dict[str, Any], who: str) -> tuple[int, Any]:
        http, told = echo(kind, job_id, body, who)
        if kind in COMMANDS:
            at, wide = len(ops), 0.4 if len(ops) < 20 else 1.9
            began, ended = at - rng.uniform(0, wide), at + rng.uniform(0, wide)
            ops.append(Op(Command(kind, job_id, who, body), http, told, began, ended))
        return http, told

    driver = Driver(door, World(QUEUES))
    for command in script(seed, 24, OVER_HTTP | {"seal": 1}):
        driver.play(command)
    jobs = {str(op.command.job_id) for op in ops if op.command.job_id}
    endings = {job_id: ending(echo, driver, job_id) for job_id in jobs}
    return History(World(QUEUES), by_fence(ops), endings)


def ending(echo: Echo, driver: Driver, job_id: str) -> Ending:
    http, told = echo("job", job_id, {}, "p1")
    return Ending(http, told, driver.receipts(job_id)) if http == 200 else Ending(http)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_an_order_explains_is_believed(seed: int) -> None:
    history = recorded(seed)
    assert sorted(map(id, history.order())) == sorted(map(id, history.ops))


def changed(history: History, change: Callable[[Op], Op | None]) -> History | None:
    """With the last op that `change` knows something against; None where there is none."""
    for number in reversed(range(len(history.ops))):
        if (lie := change(history.ops[number])) is not None:
            ops = [*history.ops[:number], lie, *history.ops[number + 1 :]]
            return History(history.world, ops, history.endings)
    return None


def says(kinds: Iterable[str], was: str, **instead: Any) -> Callable[[Op], Op | None]:
    def lie(op: Op) -> Op | None:
        if op.command.kind in kinds and op.told.get("status") == was and not op.told.get("replayed"):
            return replace(op, told=op.told | instead)
        return None

    return lie


LIES: dict[str, Callable[[Op], Op | None]] = {
    "admitted twice": says(["submit"], "existing", status="admitted"),
    "a report lost": says(["report"], "settled", status="already_settled"),
    "another place in the chain": says(
        ["reserve"], "reserved", receipt=dict.fromkeys(("seq", "kind", "status", "event_id", "ordinal"), 1)
    ),
    "a claim given away twice": says(
        ["claim"], "claim_held", status="claimed", claim=f"1-{'0' * 32}", fence=1, receipt=None
    ),
    "an answer of its own to a replay": lambda op: (
        replace(op, told=op.told | {"cascaded": 7, "result": "?"})
        if op.told.get("replayed") and op.command.kind in ("cancel", "report")
        else None
    ),
    "an old read": lambda op: (
        replace(op, told=op.told | {"seq": op.told["seq"] - 1})
        if op.command.kind == "job" and op.http == 200
        else None
    ),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_lie_is_found(lie: Callable[[Op], Op | None]) -> None:
    told = [changed(recorded(seed), lie) for seed in SEEDS]
    lies = [history for history in told if history is not None]
    assert lies
    for history in lies:
        with pytest.raises(AssertionError, match="no serial order explains it"):
            history.order()


def test_what_is_kept_must_be_explained_too() -> None:
    history = recorded(1)
    for job_id, kept in history.endings.items():
        if kept.http == 200:
            less = {**history.endings, job_id: replace(kept, job=kept.job | {"control": "?"})}
            with pytest.raises(AssertionError, match="control is '\\?'"):
                History(history.world, history.ops, less).order()


# -- real time, told by hand -------------------------------------------------------------------------------

READ = Command("job", "j", "p1")
SUBMIT = Command("submit", "j", "w1", {"spec": spec()})


def both(read: tuple[float, float], submit: tuple[float, float], http: int) -> list[tuple[int, ...]]:
    """The orders of a submit and a read that found the job, or did not."""
    echo = Echo()
    code, told = echo("submit", "j", {"spec": spec()}, "w1")
    found = echo("job", "j", {}, "p1")
    ops = [Op(SUBMIT, code, told, *submit), Op(READ, http, found[1] if http == 200 else {}, *read)]
    endings = {"j": Ending(*found, Driver(echo, World(QUEUES)).receipts("j"))}
    return list(History(World(QUEUES), ops, endings).orders())


@pytest.mark.parametrize(
    ("read", "submit", "http", "orders"),
    [
        ((0, 5), (1, 4), 404, [(1, 0)]),
        ((0, 5), (1, 4), 200, [(0, 1)]),
        ((2, 3), (0, 1), 200, [(0, 1)]),
        ((2, 3), (0, 1), 404, []),  # stale: the submit had been answered
        ((0, 1), (2, 3), 404, [(1, 0)]),
        ((0, 1), (2, 3), 200, []),  # from the future
    ],
)
def test_real_time_is_kept(
    read: tuple[float, float], submit: tuple[float, float], http: int, orders: list[tuple[int, ...]]
) -> None:
    assert both(read, submit, http) == orders


@pytest.mark.parametrize(("asked", "orders"), [(0.5, [(0, 1)]), (1.5, [])])
def test_an_ancestor_is_confirmed_before_the_answer(asked: float, orders: list[tuple[int, ...]]) -> None:
    """A read that finds it `requested` is in time while the end of the child is on its way, and not after."""
    echo = Echo()
    for job_id, parent in (("p", None), ("c", "p")):
        echo("submit", job_id, {"spec": spec(parent=parent)}, "w1")
    echo("cancel", "p", {"event_id": "a", "spec": spec()}, "p1")
    before, (http, waiting) = echo.world.copy(), echo("job", "p", {}, "p1")
    nearly = waiting | {"children_unfinished": 0}
    told = echo("cancel", "c", {"event_id": "b", "spec": spec(parent="p")}, "p1")
    end = Command("cancel", "c", "p1", {"event_id": "b", "spec": spec(parent="p")})
    ops = [Op(end, *told, 0, 1), Op(Command("job", "p", "p1"), http, nearly, asked, 2)]
    receipts = Driver(echo, World(QUEUES)).receipts
    endings = {job_id: Ending(*echo("job", job_id, {}, "p1"), receipts(job_id)) for job_id in ("p", "c")}
    assert list(History(before, ops, endings).orders()) == orders
