"""The driver agrees with an honest server and sees every lie; each lie here is a bug that could be."""

from collections.abc import Callable
from typing import Any

import pytest

from .commands import QUEUES
from .driver import Difference, run
from .echo import Echo
from .script import OVER_HTTP, WITH_CLOCK
from .world import World

pytestmark = pytest.mark.pure


@pytest.mark.parametrize("weights", [OVER_HTTP, WITH_CLOCK], ids=["without the clock", "with the clock"])
def test_an_honest_server_is_believed(weights: dict[str, int]) -> None:
    for seed in range(25):
        run(Echo(), World(QUEUES), seed=seed, weights=weights)


def test_scripts_of_many_seeds_share_a_tenant() -> None:
    door, world = Echo(), World(QUEUES)
    for seed in range(10):
        run(door, world, seed=seed)


Lie = Callable[[str, int, Any], tuple[int, Any]]


def change(kinds: str, **changes: Callable[[Any], Any]) -> Lie:
    """A lie in the fields of an answer, wherever they are."""

    def lie(kind: str, http: int, told: Any) -> tuple[int, Any]:
        hit = [name for name in changes if kind in kinds.split() and name in told]
        return http, told | {name: changes[name](told[name]) for name in hit}

    return lie


def in_steps(name: str, value: Any) -> Lie:
    return change("job", steps=lambda steps: [step | {name: value} for step in steps])


LIES: dict[str, Lie] = {
    "another HTTP code": lambda kind, http, told: (200 if http == 202 else http, told),
    "a 422 where the model knows better": lambda kind, http, told: (422 if http == 404 else http, told),
    "another status": change("report", status=lambda was: "settled"),
    "a replay not named": change("report cancel reserve", replayed=lambda was: False),
    "a replay in other words": lambda kind, http, told: (
        (http, told | {"cascaded": 7}) if told.get("replayed") and kind == "cancel" else (http, told)
    ),
    "no receipt": change("report", receipt=lambda was: None),
    "a receipt too many": lambda kind, http, told: (
        (http, told | {"receipt": {"seq": 1}}) if kind == "heartbeat" and "receipt" in told else (http, told)
    ),
    "the ordinal of a receipt": change("reserve", receipt=lambda was: was and was | {"ordinal": 5}),
    "the reserved ordinal": change("reserve", ordinal=lambda was: was + 1),
    "another key": change("reserve", idempotency_key=lambda was: "cb-" + "0" * 32),
    "another fence": change("claim", fence=lambda was: was + 1),
    "a token of another fence": change("claim", claim=lambda was: "9" + was),
    "a signal too high": change("heartbeat", signal=lambda was: was and was | {"level": "abort"}),
    "another cause": change("dispatch reserve heartbeat", cause=lambda was: {"code": "other_cause"}),
    "control in a GET": change("job", control=lambda was: "run"),
    "a headline": change("job", headline=lambda was: "ready"),
    "a state": in_steps("state", "pending"),
    "a value": in_steps("value", None),
    "testimony not shown": in_steps("testimony", []),
    "a dispute not shown": in_steps("disputed", False),
    "a claim still shown": change("job", claim=lambda was: {"worker": "w", "fence": 1, "live": True}),
    "a gap in the chain": change("receipts", receipts=lambda was: was[1:]),
    "a digest": change("receipts", receipts=lambda was: [each | {"at": "later"} for each in was]),
    "another receipt by event id": change("receipt", at=lambda was: "later"),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_lie_is_seen(lie: Lie) -> None:
    seen = [told for seed in range(12) if (told := caught(lie, seed))]
    assert seen
    assert "script(" in seen[0]
    assert "submit" in seen[0]


def caught(lie: Lie, seed: int) -> str | None:
    echo = Echo()

    def door(kind: str, job_id: str | None, body: dict[str, Any], who: str) -> tuple[int, Any]:
        return lie(kind, *echo(kind, job_id, body, who))

    try:
        run(door, World(QUEUES), seed=seed)
    except Difference as difference:
        return str(difference)
    return None


def test_a_command_may_have_a_door_of_its_own() -> None:
    echo = Echo()
    used: list[str] = []

    def by_hand(kind: str, job_id: str | None, body: dict[str, Any], who: str) -> tuple[int, Any]:
        used.append(kind)
        return echo(kind, job_id, body, who)

    run(echo, World(QUEUES), seed=1, doors={"cancel": by_hand})
    assert set(used) == {"cancel"}
