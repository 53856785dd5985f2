"""Histories: groups of real client processes, all at once over HTTP, on two servers and one database. What
each was told, and all that is kept, some serial order of the reference model explains, in real time.

A group's script is written as one (tests/model), so it goes deep and repeats itself; its first commands are
asked one by one, and the rest is dealt to the clients.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from runs.audit import breaches, snapshot
from tests.api.callers import scripted
from tests.api.cast import headers_of
from tests.model.commands import QUEUES, ClaimOf, Command, Forged, ProposalOf
from tests.model.linear import Ending, History, Op, by_fence
from tests.model.over_http import Http
from tests.model.script import OVER_HTTP, script
from tests.model.world import World
from tests.support.scale import scale
from tests.support.server import Served

from .client import ask
from .processes import Process, running

WEIGHTS = OVER_HTTP | {"seal": 1}
BEFORE = 8  #: commands asked one by one
EACH = 6  #: at most so many requests of a client; every fourth is a read
#: How many groups, of how many clients.
GROUPS = {4: scale(8, 320), 8: scale(1, 40)}


@pytest.fixture(scope="module")
def clients() -> Iterator[list[Process]]:
    yield from running(max(GROUPS), "tests.races.client")


@pytest.mark.prove
@pytest.mark.parametrize("size", GROUPS)
def test_some_order_explains_what_all_were_told(
    serve: Callable[..., Served], clients: list[Process], size: int
) -> None:
    urls = [serve(CANCELBOARD_RATE="0", CANCELBOARD_TOMBSTONES_PER_HOUR="0").url for _ in range(2)]
    seen: Counter[str] = Counter()
    for number in range(GROUPS[size]):
        seen += group(f"g{size}-{number}", urls, clients[:size])
    with snapshot():
        assert list(breaches()) == []
    assert seen["overlapping"] > seen["requests"] / 2, "they came one after the other"


def group(name: str, urls: Sequence[str], clients: Sequence[Process]) -> Counter[str]:
    """One history, in a tenant of its own. Counts its requests, and those that overlapped with another's."""
    rng = random.Random(name)
    _, people = scripted(name)
    callers = {who: headers_of(user) for who, user in people.items()}
    commands = script(rng.randrange(10**6), BEFORE + EACH * len(clients), WEIGHTS, run=name)
    tokens: dict[str, list[str]] = {}
    with Http(urls[0], callers) as door:
        before: list[Any] = []
        for command in commands[:BEFORE]:
            before.append(ask(door, tokens, *told(command, proposals(before))))
        hands = deal(rng, commands[BEFORE:], len(clients), proposals(before))
        for number, (client, hand) in enumerate(zip(clients, hands, strict=True)):
            url = urls[number % len(urls)]
            client.tell({"url": url, "headers": callers, "tokens": tokens, "asks": hand})
        for client in rng.sample(list(clients), len(clients)):
            client.go()
        at_once = [answer for client in clients for answer in client.answers()]
        asked = [op(each) for each in [*before, *at_once]]
        jobs = {str(each.command.job_id) for each in asked if each.command.job_id}
        History(World(QUEUES), by_fence(asked), {job: ending(door, job) for job in jobs}).order()
    return overlapping([op(each) for each in at_once])


def told(command: Command, proposals: dict[str, list[Any]]) -> tuple[Any, ...]:
    """What a client is told to ask: claims by their turn, proposals as those that were made before."""

    def real(field: Any) -> Any:
        match field:
            case ClaimOf(job_id, nth):
                return nth if job_id == command.job_id else None
            case Forged():
                return None
            case ProposalOf(job_id, nth):
                made = proposals.get(job_id, [])
                return made[nth] if nth < len(made) else "p-none"
        return field

    return command.kind, command.job_id, command.who, {key: real(it) for key, it in command.fields.items()}


def proposals(asked: Sequence[Any]) -> dict[str, list[Any]]:
    made: dict[str, list[Any]] = {}
    for _, job_id, _, _, http, said, *_ in asked:
        if http == 202 and said["status"] == "proposed" and not said["replayed"]:
            made.setdefault(job_id, []).append(said["proposal"])
    return made


def deal(
    rng: random.Random, commands: Sequence[Command], hands: int, made: dict[str, list[Any]]
) -> list[list[Any]]:
    """In turn, so that what belongs together is asked at once by many; a fourth of it becomes reads."""
    cards = [
        Command("job", each.job_id, "p1") if each.job_id and rng.random() < 0.25 else each
        for each in commands
    ]
    return [[told(card, made) for card in cards[hand::hands]] for hand in range(hands)]


def op(asked: Any) -> Op:
    kind, job_id, who, fields, http, said, began, ended = asked
    return Op(Command(kind, job_id, who, fields), http, said, began, ended)


def ending(door: Http, job_id: str) -> Ending:
    http, job = door("job", job_id, {}, "p1")
    if http != 200:
        return Ending(http)
    _, page = door("receipts", job_id, {"after": 0}, "p1")
    assert page["next_after"] is None
    return Ending(http, job, page["receipts"])


def overlapping(ops: Sequence[Op]) -> Counter[str]:
    def met(one: Op) -> bool:
        return any(one.began < other.ended and other.began < one.ended for other in ops if other is not one)

    return Counter(requests=len(ops), overlapping=sum(map(met, ops)))
