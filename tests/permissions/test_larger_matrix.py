"""The larger matrix, exhaustively: through the decision, the SQL filter, `has_perm` and `manage.py can`."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command

from runs.ledger import clock
from runs.models import Grant, Job, Tenant, User
from runs.permissions import TENANT_WIDE, Action, Actor, Target, rights_of, visible

from .larger import ACTIONS, CODES, MATRIX, SCOPES, expected, out_of_reach

OWNER = "customer-1"
WHERE = {"queue": "mail", "owner": OWNER, "job": "near"}
HOUR = timedelta(hours=1)
CELLS = tuple(product(MATRIX, SCOPES))


@pytest.fixture
def near(submit: Callable[..., Job]) -> Job:
    return submit("near", "mail", OWNER)


@pytest.fixture
def far(submit: Callable[..., Job]) -> Job:
    return submit("far", "ledger", "customer-2")


@pytest.fixture
def cast(acme: Tenant) -> dict[tuple[str, str], User]:
    """Everybody at every scope: fifty principals, each with a grant of each action as their name says."""
    return {(person, scope): _principal(acme, person, scope, clock()) for person, scope in CELLS}


def _principal(tenant: Tenant, person: str, scope: str, now: datetime) -> User:
    user = User.objects.create(
        username=f"{person}-{scope}",
        name=f"{person}-{scope}",
        tenant=tenant,
        kind="service" if person == "service" else "person",
        owner_key=OWNER if scope == "self" else "",
        is_active=person != "away",
    )
    group = Group.objects.create(name=f"{person}-{scope}")
    user.groups.add(group)
    own, groups, ban = {"user": user}, {"group": group}, {"effect": "deny"}
    held: dict[str, list[dict[str, Any]]] = {
        "allowed": [own],
        "banned": [own, own | ban],
        "late": [own | {"not_before": now - 2 * HOUR, "expires_at": now - HOUR}],
        "early": [own | {"not_before": now + HOUR}],
        "revoked": [own | {"revoked_at": now}],
        "member": [groups],
        "outcast": [own, groups | ban],
        "pardoned": [own, own | ban | {"not_before": now - 2 * HOUR, "expires_at": now - HOUR}],
        "away": [own],
        "service": [own],
    }
    place = {scope: WHERE[scope]} if scope in WHERE else {}
    Grant.objects.bulk_create(
        Grant(**{"tenant": tenant, "action": action, "scope": scope, "not_before": now - HOUR} | place | how)
        for action in ACTIONS
        for how in held[person]
    )
    return user


def test_it_is_large_enough() -> None:
    assert set(ACTIONS) == set(Action)
    cells = [CODES[cell] for person in MATRIX.values() for row in person.values() for cell in row]
    assert len(cells) == len(MATRIX) * 12 * 5 >= 8 * 12 * 5
    assert set(cells) == set(CODES.values())
    assert {len(row) for person in MATRIX.values() for row in person.values()} == {len(ACTIONS)}


def test_the_decision_the_filter_and_has_perm(cast: dict[tuple[str, str], User], near: Job, far: Job) -> None:
    now = clock()
    for person, scope in CELLS:
        user = cast[person, scope]
        actor = Actor.of_user(user)
        rights = rights_of(actor, now)
        for action in map(Action, ACTIONS):
            codes = {near: expected(person, scope, action), far: out_of_reach(person, scope, action)}
            for job, code in codes.items():
                cell = f"{person}, {scope}, {action}, {job}"
                assert rights.judge(action, Target.of(job), now=now).code == code, cell
                sees = action in TENANT_WIDE or codes[job] == "allowed"
                assert user.has_perm(f"can.{action}", job) is (code == "allowed" and sees), cell
            allowed = {job for job, code in codes.items() if code == "allowed"}
            assert set(visible(Job.objects.all(), actor, now, action)) == allowed, (person, scope, action)


def test_the_command_line(cast: dict[tuple[str, str], User], near: Job, capsys: Any) -> None:
    """At each scope's own diagonal of people, so that it meets every code of every action."""
    for (person, scope), action in product(CELLS, ACTIONS):
        if (list(MATRIX).index(person) + SCOPES.index(scope)) % len(SCOPES):
            continue
        code = expected(person, scope, action)
        seen = action in TENANT_WIDE or expected(person, scope, "view") == "allowed"
        asked = (cast[person, scope].username, action, "near")
        if code == "allowed":
            call_command("can", *asked)
            assert capsys.readouterr().out.endswith("yes\n"), asked
        else:
            with pytest.raises(CommandError) as no:
                call_command("can", *asked)
            assert no.value.returncode == 1
            assert str(no.value).startswith(f"no: {code if seen else expected(person, scope, 'view')}."), (
                asked
            )
