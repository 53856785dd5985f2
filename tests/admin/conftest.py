"""Two administrators: ada, who sees no job, and lena, who leads and may also change rights."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.test.html import parse_html

from runs.models import User
from runs.permissions import Action, Actor, Line, changing, grant
from runs.permissions.accounts import Standing, stand
from tests.board.cast import BACKEND, Stage


@pytest.fixture
def stage(db: None) -> Stage:
    made = Stage()
    system = made.actors["system"]
    with changing(system) as change:
        stand(change, made.people["lena"], Standing(active=True, administers=True))
    grant(system, made.people["lena"], [Line(Action.MANAGE_GRANTS)])
    return made


class Desk:
    """A browser in the admin. `errors` are what a refused form says."""

    def __init__(self, user: User) -> None:
        self.client = Client()
        self.client.force_login(user, BACKEND)

    def get(self, path: str, **query: str) -> Any:
        return self.client.get(f"/admin/{path}", query)

    def post(self, path: str, **fields: Any) -> Any:
        return self.client.post(f"/admin/{path}", {"because": "asked for", **fields})

    def text(self, path: str, **query: str) -> str:
        answer = self.get(path, **query)
        assert answer.status_code == 200, (path, answer.status_code)
        parse_html(answer.content.decode())
        return str(answer.content.decode())


def told(answer: Any) -> str:
    """What a refused form says, as one text."""
    assert answer.status_code == 200, "it was not refused"
    form = answer.context["adminform"].form
    return " ".join(str(each) for messages in form.errors.values() for each in messages)


@pytest.fixture
def desk(stage: Stage) -> Callable[[str], Desk]:
    return lambda name: Desk(User.objects.get(tenant=stage.tenant, name=name))


@pytest.fixture
def lena(desk: Callable[[str], Desk]) -> Desk:
    return desk("lena")


@pytest.fixture
def ada(desk: Callable[[str], Desk]) -> Desk:
    return desk("ada")


@pytest.fixture
def system(stage: Stage) -> Actor:
    return stage.actors["system"]
