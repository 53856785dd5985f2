"""Changing rights: who may, nobody for themselves, and no decision overlaps it."""

from collections.abc import Callable
from datetime import timedelta
from threading import Event, Thread
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection, transaction

from runs.demo.people import cast
from runs.errors import CancelboardError, Invalid, NotAllowed, NotVisible
from runs.models import Grant, Job, Tenant, User
from runs.permissions import (
    TEMPLATES,
    Action,
    Actor,
    Line,
    Scope,
    changing,
    grant,
    in_queue,
    join_group,
    leave_group,
    lock_shared,
    revoke_grant,
    rights_changed,
    set_active,
)
from tests.support.databases import Database

CANCEL = [Line(Action.CANCEL)]
PATIENCE = 20


@pytest.fixture
def ada(people: dict[str, User]) -> Actor:
    return Actor.of_user(people["ada"])


@pytest.fixture
def mail(jobs: dict[str, Job]) -> Job:
    return jobs["mail job of customer-1"]


def refused(change: Callable[[], object]) -> str:
    with pytest.raises(CancelboardError) as caught:
        change()
    return caught.value.code


def test_given_and_taken(people: dict[str, User], ada: Actor, mail: Job) -> None:
    sam = people["sam"]
    assert not sam.has_perm("can.cancel", mail)
    (given,) = grant(ada, sam, CANCEL, reason="on call")
    assert sam.has_perm("can.cancel", mail)
    assert (given.granted_by_id, given.not_before) == (ada.user_id, given.granted_at)
    ended = revoke_grant(ada, given.pk)
    assert not sam.has_perm("can.cancel", mail)
    assert ended.revoked_by_id == ada.user_id
    assert revoke_grant(ada, given.pk).revoked_at == ended.revoked_at, "once revoked, it stays as it is"


def test_through_a_group(people: dict[str, User], ada: Actor, mail: Job) -> None:
    night = Group.objects.create(name="night shift")
    grant(ada, night, CANCEL)
    join_group(ada, people["sam"], night)
    assert people["sam"].has_perm("can.cancel", mail)
    leave_group(ada, people["sam"], night)
    assert not people["sam"].has_perm("can.cancel", mail)


def test_switched_off(people: dict[str, User], ada: Actor, mail: Job) -> None:
    set_active(ada, people["lena"], False)
    assert not User.objects.get(name="lena").has_perm("can.cancel", mail)


@pytest.mark.parametrize("who", ["lena", "aud", "omar", "w1"])
def test_only_who_manages_grants(people: dict[str, User], who: str) -> None:
    actor, sam, group = Actor.of_user(people[who]), people["sam"], Group.objects.create(name="g")
    for change in (
        lambda: grant(actor, sam, CANCEL),
        lambda: revoke_grant(actor, sam.grants.first().pk),  # type: ignore[union-attr]
        lambda: join_group(actor, sam, group),
        lambda: leave_group(actor, sam, group),
        lambda: set_active(actor, sam, False),
    ):
        with pytest.raises(NotAllowed):
            change()
    assert people["sam"].grants.filter(revoked_at=None).count() == len(TEMPLATES["support"])


def test_nobody_for_themselves(people: dict[str, User], ada: Actor, system: Actor) -> None:
    me, mine, other = people["ada"], Group.objects.create(name="mine"), Group.objects.create(name="other")
    join_group(system, me, mine)
    (ban,) = grant(system, me, [Line(Action.VIEW, allows=False)])
    (group_ban,) = grant(system, mine, [Line(Action.EXPORT, allows=False)])
    for change in (
        lambda: grant(ada, me, CANCEL),
        lambda: grant(ada, mine, CANCEL),
        lambda: join_group(ada, me, other),
        lambda: leave_group(ada, me, mine),
        lambda: revoke_grant(ada, ban.pk),
        lambda: revoke_grant(ada, group_ban.pk),
    ):
        assert refused(change) == "sod_self_grant"
    assert grant(ada, other, CANCEL), "a group that one is not in"


def test_another_tenants_people_are_not_there(people: dict[str, User], ada: Actor) -> None:
    elsewhere = Tenant.objects.create(name="elsewhere")
    eve = User.objects.create(username="eve", name="eve", tenant=elsewhere)
    (theirs,) = grant(Actor.system(elsewhere), eve, CANCEL)
    for change in (
        lambda: grant(ada, eve, CANCEL),
        lambda: revoke_grant(ada, theirs.pk),
        lambda: join_group(ada, eve, Group.objects.create(name="g")),
        lambda: set_active(ada, eve, False),
    ):
        with pytest.raises(NotVisible):
            change()


@pytest.mark.parametrize(
    "line",
    [
        Line(Action.CANCEL, Scope.QUEUE),
        Line(Action.CANCEL, Scope.QUEUE, queue="nowhere"),
        Line(Action.CANCEL, Scope.TENANT, queue="mail"),
        Line(Action.CANCEL, Scope.QUEUE, queue="mail", owner="customer-1"),
        Line(Action.SEAL, Scope.QUEUE, queue="mail"),
        Line(Action.MANAGE_GRANTS, Scope.SELF),
    ],
)
def test_no_grant_that_reaches_nothing(people: dict[str, User], ada: Actor, line: Line) -> None:
    before = Grant.objects.count()
    with pytest.raises(Invalid):
        grant(ada, people["sam"], [Line(Action.CANCEL), line])
    assert Grant.objects.count() == before, "all of them or none"


def test_it_ends_after_it_begins(people: dict[str, User], ada: Actor) -> None:
    begins = people["sam"].date_joined + timedelta(days=1)
    with pytest.raises(Invalid):
        grant(ada, people["sam"], CANCEL, not_before=begins, expires_at=begins)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_can_be_copied(people: dict[str, User], system: Actor, name: str) -> None:
    group = Group.objects.create(name=name)
    assert len(grant(system, group, in_queue("ledger", TEMPLATES[name]))) == len(TEMPLATES[name])


def test_listeners_hear_of_it_after_the_commit(real_db: Database) -> None:
    people, heard = cast(), []

    def listener(tenant_id: int, **_: Any) -> None:
        heard.append((tenant_id, connection.in_atomic_block))

    rights_changed.connect(listener)
    try:
        grant(Actor.of_user(people["ada"]), people["sam"], CANCEL)
        with pytest.raises(NotAllowed):
            grant(Actor.of_user(people["sam"]), people["lena"], CANCEL)
    finally:
        rights_changed.disconnect(listener)
    assert heard == [(people["sam"].tenant_id, False)]


def test_a_change_waits_for_the_decisions_under_way(real_db: Database) -> None:
    """What was decided by the old rights is committed before they end."""
    people, order, deciding = cast(), [], Event()
    tenant_id = people["ada"].tenant_id
    done = Event()

    def change() -> None:
        try:
            assert deciding.wait(PATIENCE)
            set_active(Actor.of_user(people["ada"]), people["lena"], False)
            order.append("changed")
        finally:
            connection.close()
            done.set()

    thread = Thread(target=change)
    thread.start()
    with transaction.atomic():
        lock_shared(tenant_id)
        deciding.set()
        assert not done.wait(0.5), "it did not wait"
        order.append("decided")
    thread.join(PATIENCE)
    assert order == ["decided", "changed"]


def test_decisions_wait_for_the_change_under_way_and_then_see_it(real_db: Database) -> None:
    people, seen, changed = cast(), [], Event()
    lena, done = people["lena"], Event()

    def decide() -> None:
        try:
            assert changed.wait(PATIENCE)
            with transaction.atomic():
                lock_shared(lena.tenant_id)
                seen.append(User.objects.get(pk=lena.pk).is_active)
        finally:
            connection.close()
            done.set()

    thread = Thread(target=decide)
    thread.start()
    with changing(Actor.of_user(people["ada"])) as change:
        found = change.own(lena)
        found.is_active = False
        found.save()
        changed.set()
        assert not done.wait(0.5), "it did not wait"
    thread.join(PATIENCE)
    assert seen == [False]


def test_a_lock_outside_a_transaction_is_a_mistake(real_db: Database) -> None:
    with pytest.raises(transaction.TransactionManagementError):
        lock_shared(1)
