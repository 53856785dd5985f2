"""The demo's people before the board and the API at once, and a stranger of another tenant."""

from collections.abc import Callable

import pytest
from django.test import Client

from runs.models import Queue, Tenant, User
from runs.permissions import Action, Actor, Line, grant, issue_token
from tests.api.cast import Caller, bearer, session
from tests.board.cast import Browser, Stage


@pytest.fixture
def stage(db: None) -> Stage:
    return Stage()


@pytest.fixture
def api(stage: Stage) -> Callable[[str], Caller]:
    """`api("olga")`: her session at the API, with its CSRF token."""
    return lambda name: session(stage.people[name])


@pytest.fixture
def page(stage: Stage) -> Callable[[str], Browser]:
    return stage.browser


@pytest.fixture
def w1(stage: Stage) -> Caller:
    actions = [Action.VIEW, Action.SUBMIT, Action.EXECUTE]
    return bearer(issue_token(stage.actors["system"], stage.people["w1"], actions)[1])


@pytest.fixture
def stranger(stage: Stage) -> Caller:
    """A service account that may do everything, in another tenant that has queues of the same names."""
    other = Tenant.objects.create(name="umbrella")
    for name in ("mail", "ledger", "books"):
        Queue.objects.create(tenant=other, name=name)
    account = User.objects.create(username="umbrella/app", name="app", tenant=other, kind=User.Kind.SERVICE)
    system = Actor.system(other)
    allowed = [action for action in Action if action not in (Action.APPROVE, Action.MANAGE_GRANTS)]
    grant(system, account, [Line(action) for action in allowed])
    return bearer(issue_token(system, account, allowed)[1])


@pytest.fixture
def strict() -> Callable[[User], Client]:
    """A browser that keeps Django's CSRF check."""

    def made(user: User) -> Client:
        client = Client(enforce_csrf_checks=True)
        client.force_login(user, "django.contrib.auth.backends.ModelBackend")
        return client

    return made
