"""The SQL filter equals the decision row by row, on random grants; and it is one statement."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import cycle, product
from typing import Any

import pytest
from django.contrib.auth.models import Group
from pytest_django import DjangoAssertNumQueries

from runs.models import Grant, Job, Step, Tenant, Token, User
from runs.permissions import Action, Actor, Scope, Target, rights_of, visible
from tests.support.scale import scale

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
QUEUES, OWNERS = ("mail", "ledger"), ("", "customer-1", "customer_1", "Customer-1")
#: Around NOW, to the microsecond.
MOMENTS = [NOW + timedelta(microseconds=n) for n in (-2, -1, 0, 1, 2)]
ACTIONS = list(Action)


#: With `make prove` a million pairs of principal and job, each asked as a person and by a token.
JOBS, PRINCIPALS = scale(16, 500), scale(80, 2_000)


@pytest.fixture
def rows(submit: Callable[..., Job]) -> list[Job]:
    """Jobs of every queue and owner; `_` and the case are traps for LIKE."""
    return [submit(f"job-{n}", *where) for n, where in zip(range(JOBS), cycle(product(QUEUES, OWNERS)))]


class World:
    """A principal whose rights are drawn by its name, and a few that are not its own."""

    def __init__(self, name: str, acme: Tenant, elsewhere: Tenant) -> None:
        self.dice = random.Random(name)
        self.acme, self.elsewhere = acme, elsewhere
        self.mine, self.ours, self.foreign = (
            Group.objects.create(name=name + which) for which in ("mine", "ours", "foreign")
        )
        self.actions = self.dice.sample(ACTIONS, 3)
        self.user = User.objects.create(
            username=name,
            name=name,
            tenant=acme,
            kind=self.dice.choice(["person", "service"]),
            owner_key=self.dice.choice(OWNERS),
            is_active=self.dice.random() < 0.9,
        )
        self.user.groups.add(self.mine, self.ours)
        for _ in range(self.dice.randint(1, 14)):
            self.grant()
        self.token = self.draw_token(name)

    def grant(self) -> None:
        scope = self.dice.choice(list(Scope))
        where = {"queue": QUEUES, "owner": OWNERS[1:], "job": ("job-0", "job-5")}
        start = self.dice.choice([*MOMENTS, NOW - timedelta(days=9)])
        self.dice.choice([self.save, self.save, self.save, self.save_foreign])(
            action=self.dice.choice(self.actions),
            effect=self.dice.choice(["allow", "allow", "allow", "deny"]),
            scope=scope,
            not_before=start,
            expires_at=self.dice.choice([None, None, *[moment for moment in MOMENTS if moment > start]]),
            revoked_at=self.dice.choice([None, None, None, None, NOW]),
            **{scope: self.dice.choice(where[scope])} if scope in where else {},
        )

    def save(self, **what: Any) -> None:
        whose: dict[str, Any] = self.dice.choice(
            [{"user": self.user}, {"group": self.mine}, {"group": self.ours}]
        )
        Grant.objects.create(tenant=self.acme, **whose, **what)

    def save_foreign(self, **what: Any) -> None:
        whose: dict[str, Any] = self.dice.choice(
            [{"tenant": self.acme, "group": self.foreign}, {"tenant": self.elsewhere, "user": self.user}]
        )
        Grant.objects.create(**whose, **what)

    def draw_token(self, name: str) -> Token:
        return Token.objects.create(
            user=self.user,
            prefix=f"{name:0>8}",
            secret_hash="-",
            actions=self.dice.sample(self.actions, self.dice.randint(0, 3)),
            queues=self.dice.choice([[], [], ["mail"], ["ledger", "mail"]]),
            expires_at=self.dice.choice([*MOMENTS, *[NOW + timedelta(days=9)] * 9]),
            revoked_at=self.dice.choice([None] * 9 + [NOW]),
        )


@pytest.mark.prove
@pytest.mark.timeout(1800)
def test_it_equals_the_decision(acme: Tenant, rows: list[Job]) -> None:
    elsewhere, seen = Tenant.objects.create(name="elsewhere"), set()
    for number in range(PRINCIPALS):
        world = World(f"p{number}", acme, elsewhere)
        for actor in (Actor.of_user(world.user), Actor.of_token(world.token)):
            rights = rights_of(actor, NOW)
            for action in {*world.actions, Action.VIEW, Action.SEAL}:
                allowed = {job.pk for job in rows if rights.judge(action, Target.of(job), now=NOW).allowed}
                case = f"{actor} {action}"
                found = visible(Job.objects.all(), actor, NOW, action)
                assert set(found.values_list("pk", flat=True)) == allowed, case
                assert rights.anywhere(action, NOW) or not allowed, case
                seen.add(len(allowed))
        steps = visible(Step.objects.all(), actor, NOW, action, "job__")
        assert set(steps.values_list("job_id", flat=True)) == allowed, case
    assert {0, len(rows)} < seen, "all, none and some of the rows were seen in the course of it"


def test_one_statement(
    people: dict[str, User], jobs: dict[str, Job], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    actor = Actor.of_user(people["sam"])
    with django_assert_num_queries(1):
        assert visible(Job.objects.all(), actor, NOW + timedelta(days=365)).count() == len(jobs)


def test_another_tenants_jobs_are_never_in_it(people: dict[str, User], jobs: dict[str, Job]) -> None:
    elsewhere = Tenant.objects.create(name="elsewhere")
    for actor in (Actor.system(elsewhere), Actor.verifier(elsewhere, "smtp")):
        assert not visible(Job.objects.all(), actor, NOW).exists()
    assert visible(Job.objects.all(), Actor.system(people["sam"].tenant), NOW).count() == len(jobs)
