"""Single sentences of docs/permissions.md that no other file here is about."""

import hmac
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from runs.commands import do
from runs.errors import Unauthenticated
from runs.ledger import clock
from runs.models import Grant, Job, Queue, Receipt, Tenant, User
from runs.permissions import (
    TENANT_WIDE,
    Action,
    Actor,
    Line,
    Scope,
    authenticate,
    grant,
    issue_token,
    join_group,
    leave_group,
    open_account,
    revoke_grant,
    revoke_token,
    rights_of,
    set_active,
)
from runs.protocol import asks
from tests.board.cast import CONFIRMED, Stage


@pytest.fixture
def mail(jobs: dict[str, Job]) -> Job:
    return jobs["mail job of customer-1"]


# -- "No action implies another, but acting on a job also needs view of it" --------------------------------
@pytest.mark.parametrize("action", set(Action) - {Action.VIEW})
def test_no_action_implies_another(people: dict[str, User], system: Actor, mail: Job, action: Action) -> None:
    kind = User.Kind.SERVICE if action is Action.EXECUTE else User.Kind.PERSON
    one = User.objects.create(username="one", name="one", tenant=mail.tenant, kind=kind)

    def allowed() -> set[str]:
        return {str(each) for each in Action if one.has_perm(f"can.{each}", mail)}

    grant(system, one, [Line(action)])
    assert allowed() == {action} & TENANT_WIDE
    grant(system, one, [Line(Action.VIEW)])
    assert allowed() == {action, "view"}


# -- "CHECK constraints: exactly the columns its scope needs" ----------------------------------------------
@pytest.mark.parametrize(
    "wrong",
    [
        *({"scope": scope} for scope in ("queue", "owner", "job", "galaxy")),
        *({"scope": scope, "queue": "mail"} for scope in ("tenant", "self", "owner", "job")),
        {"scope": "queue", "queue": "mail", "owner": "customer-1"},
        {"scope": "owner", "owner": "customer-1", "job": "mail-1"},
        {"scope": "tenant", "effect": "maybe"},
        {"scope": "tenant", "both": True},
        {"scope": "tenant", "neither": True},
    ],
    ids=str,
)
def test_the_table_holds_no_grant_that_does_not_fit_its_scope(
    people: dict[str, User], acme: Tenant, wrong: dict[str, Any]
) -> None:
    row: dict[str, Any] = {"tenant": acme, "user": people["sam"], "action": "cancel", **wrong}
    if row.pop("both", False):
        row["group"] = Group.objects.create(name="acme/night")
    if row.pop("neither", False):
        row["user"] = None
    with pytest.raises(IntegrityError), transaction.atomic():
        Grant.objects.create(**row)


def test_the_table_holds_no_service_account_that_enters_the_admin(people: dict[str, User]) -> None:
    for column in ("is_staff", "is_superuser"):
        with pytest.raises(IntegrityError), transaction.atomic():
            User.objects.filter(name="w1").update(**{column: True})
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.filter(name="sam").update(sponsor=people["omar"])


# -- "written into the receipt's detail by opaque ids" -----------------------------------------------------
def test_a_receipt_says_by_which_grant_and_token_and_names_nobody(
    people: dict[str, User], system: Actor, mail: Job
) -> None:
    ask = asks.Pause(event_id="e-1")
    do(Actor.of_user(people["omar"]), mail.job_id, ask)
    allow = Grant.objects.get(user=people["omar"], action="pause")
    told = json.loads(Receipt.objects.get(event_id="e-1").detail)
    assert told == {"action": "pause", "grant": allow.pk, "token": None, "paused": True}
    token, text = issue_token(system, people["w1"], [Action.VIEW, Action.EXECUTE])
    do(authenticate(f"Bearer {text}"), mail.job_id, asks.Claim(worker="worker-1", ttl_seconds=30))
    told = json.loads(Receipt.objects.filter(kind="claim").latest("pk").detail)
    execute = Grant.objects.get(user=people["w1"], action="execute")
    assert {"action": "execute", "grant": execute.pk, "token": token.pk}.items() <= told.items()


# -- "compared in constant time" ---------------------------------------------------------------------------
def test_a_secret_is_compared_in_constant_time_whether_or_not_there_is_such_a_prefix(
    people: dict[str, User], system: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[str, str]] = []

    def compare(one: str, other: str) -> bool:
        compared.append((one, other))
        return plain(one, other)

    plain = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", compare)
    text = issue_token(system, people["w1"], [Action.VIEW])[1]
    for header in (f"Bearer {text}x", "Bearer cb_nobody00_x", "Bearer nonsense", "Basic x"):
        compared.clear()
        with pytest.raises(Unauthenticated):
            authenticate(header)
        assert [len(side) for pair in compared for side in pair] == [64, 64], header


# -- "Changing grants, group membership, is_active or a token takes a lock" --------------------------------
#: `pk`: of a grant of sam's, and of a token of w1's.
CHANGES: dict[str, Callable[[Actor, dict[str, User], Group, tuple[int, int]], object]] = {
    "grant": lambda ada, people, group, pk: grant(ada, people["sam"], [Line(Action.CANCEL)]),
    "revoke": lambda ada, people, group, pk: revoke_grant(ada, pk[0]),
    "join": lambda ada, people, group, pk: join_group(ada, people["sam"], group),
    "leave": lambda ada, people, group, pk: leave_group(ada, people["sam"], group),
    "active": lambda ada, people, group, pk: set_active(ada, people["sam"], False),
    "token": lambda ada, people, group, pk: issue_token(ada, people["w1"], [Action.VIEW]),
    "revoke token": lambda ada, people, group, pk: revoke_token(ada, pk[1]),
    "account": lambda ada, people, group, pk: open_account(ada, "w9", [Action.VIEW]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_of_rights_takes_the_tenants_lock_alone_and_first(
    people: dict[str, User], system: Actor, change: str
) -> None:
    """On SQLite it is the one writer's: tests/project/test_databases.py."""
    group = Group.objects.create(name="acme/night")
    token, _ = issue_token(system, people["w1"], [Action.VIEW])
    pk = people["sam"].grants.all()[0].pk, token.pk
    with CaptureQueriesContext(connection) as seen:
        CHANGES[change](Actor.of_user(people["ada"]), people, group, pk)
    statements = [query["sql"] for query in seen.captured_queries]
    assert statements[0].startswith("SAVEPOINT"), "one transaction, and here the test's is around it"
    if connection.vendor == "postgresql":
        assert "pg_advisory_xact_lock(" in statements[1]


# -- "A verifier's finding settles alone; a service account's is a proposal like a person's" ---------------
@pytest.mark.parametrize(
    ("who", "status"), [("robot", "proposed"), ("sam", "proposed"), ("verifier", "settled")]
)
def test_whose_finding_settles_alone(db: None, who: str, status: str) -> None:
    stage = Stage()
    account = User.objects.create(username="acme/robot", name="robot", tenant=stage.tenant, kind="service")
    stage.actors["robot"] = Actor.of_user(account)
    stage.actors["verifier"] = Actor.verifier(stage.tenant, "verifier:smtp")
    for user in (account, stage.people["sam"]):
        grant(stage.actors["system"], user, [Line(Action.VIEW), Line(Action.RECONCILE)])
    stage.unknown("order-1", queue="books")
    assert stage(who, "order-1", "reconcile", ordinal=0, outcome="ok", evidence=CONFIRMED).status == status


@pytest.mark.parametrize(
    ("queue", "outcome", "status"),
    [
        *(("mail", "ok", "settled"), ("mail", "rejected", "settled")),
        *(("books", "ok", "proposed"), ("books", "rejected", "proposed")),
        *(("shop", "ok", "settled"), ("shop", "rejected", "proposed")),
    ],
)
def test_how_many_people_an_outcome_needs(db: None, queue: str, outcome: str, status: str) -> None:
    stage = Stage()
    evidence = CONFIRMED if outcome == "ok" else CONFIRMED.model_copy(update={"kind": "receiver_refused"})
    stage.unknown("order-1", queue=queue)
    given = {"ordinal": 0, "outcome": outcome, "evidence": evidence}
    assert stage("lena", "order-1", "reconcile", **given).status == status


# -- "Groups are Django's. Each principal belongs to exactly one tenant" --------- ---------------------
def test_a_grant_of_another_tenant_counts_for_nothing(people: dict[str, User], mail: Job) -> None:
    """Django's groups know no tenant, so a member of a group of both gets nothing from elsewhere."""
    elsewhere = Tenant.objects.create(name="elsewhere")
    Queue.objects.create(tenant=elsewhere, name="mail")
    group = Group.objects.create(name="elsewhere/all")
    people["sam"].groups.add(group)
    grant(
        Actor.system(elsewhere), group, [Line(Action.CANCEL), Line(Action.CANCEL, Scope.QUEUE, queue="mail")]
    )
    assert not people["sam"].has_perm("can.cancel", mail)
    assert "cancel" not in {each.action for each in rights_of(Actor.of_user(people["sam"]), clock()).grants}
