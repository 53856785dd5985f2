"""Random commands say and leave what the reference model says (tests/model): 200 a script, a fifth of them
replays. Five scripts go over real HTTP, workers by token, people by their session. The long run has 480 of
300: those five on both engines, the others without the way there, dealt to the two engines in turn.
"""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.db import connection

from runs.commands import do
from runs.errors import CancelboardError
from runs.models import User
from runs.permissions import Actor
from runs.queries import jobs, receipts
from tests.model.commands import QUEUES
from tests.model.driver import run
from tests.model.over_http import ALONE
from tests.model.world import World
from tests.races.scene import shape_of
from tests.support.scale import scale
from tests.support.server import Served

from .callers import scripted
from .cast import BASE, headers_of

LENGTH = scale(200, 300)
OVER_HTTP, ALL = 5, scale(7, 480)
AT_ONCE = 10  #: scripts in one database


def commands(client: httpx.Client, callers: dict[str, dict[str, str]]) -> Callable[..., Any]:
    """The driver's door for commands: one request each, none tried twice."""

    def door(kind: str, job_id: str | None, body: dict[str, Any], who: str) -> tuple[int, Any]:
        path = ALONE.get(kind, f"/jobs/{job_id}/{kind}")
        whole = body | ({"job_id": job_id} if kind == "submit" else {})
        answer = client.post(path, json=whole, headers=callers[who])
        return answer.status_code, answer.json()

    return door


def here(people: dict[str, User]) -> Callable[..., Any]:
    """The same door without the way there: each command as the API calls it."""
    actors = {name: Actor.of_user(user) for name, user in people.items()}

    def door(kind: str, job_id: str | None, body: dict[str, Any], who: str) -> tuple[int, Any]:
        whole = body | ({"job_id": job_id} if kind == "submit" else {})
        try:
            answer = do(actors[who], job_id, shape_of(kind).model_validate(whole))
        except CancelboardError as error:
            return error.http, {"code": error.code}
        return answer.code, answer.json()

    return door


def reads(reader: User) -> dict[str, Callable[..., Any]]:
    """Doors for the reads: what the API shows, without the way there (test_jobs.py goes that way)."""
    actor = Actor.of_user(reader)

    def told(query: Callable[[str | None, dict[str, Any]], Any]) -> Callable[..., Any]:
        def door(kind: str, job_id: str | None, body: dict[str, Any], who: str) -> tuple[int, Any]:
            try:
                return 200, query(job_id, body)
            except CancelboardError as error:
                return error.http, None

        return door

    return {
        "job": told(lambda job_id, _body: jobs.one(actor, str(job_id))),
        "receipts": told(lambda job_id, body: receipts.of_job(actor, str(job_id), body["after"], 50)),
        "receipt": told(lambda _job_id, body: receipts.one(actor, body["event_id"])),
    }


def test_random_commands_answer_as_the_model(serve: Callable[..., Served]) -> None:
    _, people = scripted("acme")
    callers = {name: headers_of(user) for name, user in people.items()}
    world, server = World(QUEUES), serve(CANCELBOARD_RATE="0")
    with httpx.Client(base_url=server.url + BASE, timeout=60) as client:
        door, doors = commands(client, callers), reads(people["p1"])
        for seed in range(OVER_HTTP):
            run(door, world, seed=seed, length=LENGTH, doors=doors, no_proposal="p-none")


@pytest.mark.prove
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(OVER_HTTP, ALL, AT_ONCE))
def test_so_do_many_more(db: None, first: int) -> None:
    _, people = scripted("acme")
    world, door, doors = World(QUEUES), here(people), reads(people["p1"])
    turn = ("sqlite", "postgresql").index(connection.vendor)
    for seed in range(first + turn, min(first + AT_ONCE, ALL), 2):
        run(door, world, seed=seed, length=LENGTH, doors=doors, reads=3, no_proposal="p-none")
