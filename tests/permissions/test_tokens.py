"""Bearer tokens: shown once, two at a time, dead when they end."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from runs.errors import CancelboardError, Invalid, NotAllowed, NotVisible, Unauthenticated
from runs.ledger import clock
from runs.models import Job, Tenant, Token, User
from runs.permissions import (
    WHOLE,
    Action,
    Actor,
    Target,
    authenticate,
    issue_token,
    open_account,
    revoke_token,
    rights_of,
    set_active,
    visible,
)
from runs.protocol.states import ActorType

DAY = timedelta(days=1)
WORK = [Action.VIEW, Action.SUBMIT, Action.EXECUTE]


@pytest.fixture
def w1(people: dict[str, User]) -> User:
    return people["w1"]


@pytest.fixture
def issued(system: Actor, w1: User) -> Iterator[tuple[Token, str]]:
    return issue_token(system, w1, WORK)  # type: ignore[return-value]


def refusal(header: str) -> str:
    with pytest.raises(Unauthenticated) as caught:
        authenticate(header)
    assert caught.value.http == 401
    return caught.value.code


def test_it_speaks_for_its_account(issued: tuple[Token, str], w1: User) -> None:
    token, text = issued
    expected = Actor(ActorType.SERVICE, "w1", w1.tenant_id, "acme", w1.pk, token.pk)
    assert authenticate(f"Bearer {text}") == expected


def test_only_a_hash_is_kept(issued: tuple[Token, str]) -> None:
    token, text = issued
    _, prefix, secret = text.split("_", 2)
    token.refresh_from_db()
    assert (token.prefix, len(prefix)) == (prefix, 8)
    assert token.secret_hash == hashlib.sha256(secret.encode()).hexdigest()
    assert secret not in str(vars(token))


def test_it_lives_ninety_days_unless_said_otherwise(
    system: Actor, w1: User, issued: tuple[Token, str]
) -> None:
    assert issued[0].expires_at - issued[0].created_at == 90 * DAY
    week, _ = issue_token(system, w1, WORK, days=7)
    assert week.expires_at - week.created_at == 7 * DAY


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "cb_{prefix}_{secret}",
        "Basic cb_{prefix}_{secret}",
        "Bearer cb_{prefix}_{secret}x",
        "Bearer cb_{prefix}_{secret}\n",
        "Bearer cb_{prefix}_é",
        "Bearer cb_{prefix}_",
        "Bearer cb_{prefix}",
        "Bearer cb_aaaaaaaa_{secret}",
    ],
)
def test_anything_else_is_nobody(issued: tuple[Token, str], header: str) -> None:
    _, prefix, secret = issued[1].split("_", 2)
    assert refusal(header.format(prefix=prefix, secret=secret)) == "unauthenticated"


def test_a_dead_token_says_so_only_to_who_has_it(system: Actor, issued: tuple[Token, str]) -> None:
    token, text = issued
    revoke_token(system, token.pk)
    assert refusal(f"Bearer {text}") == "token_dead"
    assert refusal(f"Bearer {text[:-1]}") == "unauthenticated"


def test_an_expired_token_is_dead(issued: tuple[Token, str]) -> None:
    token, text = issued
    Token.objects.filter(pk=token.pk).update(expires_at=clock())
    assert refusal(f"Bearer {text}") == "token_dead"


def test_a_token_of_an_account_that_is_switched_off(
    system: Actor, w1: User, issued: tuple[Token, str]
) -> None:
    set_active(system, w1, False)
    assert refusal(f"Bearer {issued[1]}") == "principal_inactive"
    set_active(system, w1, True)
    assert authenticate(f"Bearer {issued[1]}").name == "w1"


def test_a_decision_reads_the_token_anew(
    system: Actor, issued: tuple[Token, str], jobs: dict[str, Job]
) -> None:
    job, actor = jobs["mail job of customer-1"], authenticate(f"Bearer {issued[1]}")

    def now_judged() -> tuple[str, bool]:
        now = clock()
        seen = visible(Job.objects.filter(pk=job.pk), actor, now).exists()
        return rights_of(actor, now).judge(Action.VIEW, Target.of(job), now=now).code, seen

    assert now_judged() == ("allowed", True)
    revoke_token(system, issued[0].pk)
    assert now_judged() == ("token_dead", False)


@pytest.mark.parametrize("whose", ["another account's", "nobody's"])
def test_an_actor_with_a_token_that_is_not_its_own_is_nobody(
    system: Actor, people: dict[str, User], issued: tuple[Token, str], whose: str
) -> None:
    token = issued[0].pk if whose == "another account's" else issued[0].pk + 1000
    actor = replace(Actor.of_user(people["omar"]), token_id=token)
    now = clock()
    assert rights_of(actor, now).judge(Action.VIEW, WHOLE, now=now).code == "principal_inactive"


def test_two_live_ones_at_most(system: Actor, w1: User, issued: tuple[Token, str]) -> None:
    second, _ = issue_token(system, w1, WORK)
    with pytest.raises(Invalid, match="two live tokens"):
        issue_token(system, w1, WORK)
    revoke_token(system, second.pk)
    assert issue_token(system, w1, WORK)
    Token.objects.filter(pk=issued[0].pk).update(expires_at=clock())
    assert issue_token(system, w1, WORK), "an expired one is not live"


@pytest.mark.parametrize(
    "wrong",
    [
        {"days": 0},
        {"days": 366},
        {"actions": []},
        {"actions": [Action.APPROVE]},
        {"actions": [Action.MANAGE_GRANTS]},
        {"queues": ["nowhere"]},
        {"actions": [Action.SEAL], "queues": ["mail"]},
    ],
)
def test_no_token_that_could_never_be_used(system: Actor, w1: User, wrong: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        issue_token(system, w1, **({"actions": WORK} | wrong))  # type: ignore[arg-type]
    assert not Token.objects.exists()


def test_people_have_none(system: Actor, people: dict[str, User]) -> None:
    with pytest.raises(Invalid):
        issue_token(system, people["sam"], WORK)


@pytest.mark.parametrize(("who", "error"), [("ada", None), ("lena", NotAllowed), ("w1", NotAllowed)])
def test_who_issues_and_revokes(
    people: dict[str, User], issued: tuple[Token, str], who: str, error: type | None
) -> None:
    actor = Actor.of_user(people[who])
    for change in (lambda: issue_token(actor, people["w1"], WORK), lambda: revoke_token(actor, issued[0].pk)):
        if error is None:
            change()
        else:
            with pytest.raises(error):
                change()


def test_another_tenants_token_is_not_there(issued: tuple[Token, str], w1: User) -> None:
    stranger = Actor.system(Tenant.objects.create(name="elsewhere"))
    for change in (lambda: revoke_token(stranger, issued[0].pk), lambda: issue_token(stranger, w1, WORK)):
        with pytest.raises(NotVisible):
            change()
    assert authenticate(f"Bearer {issued[1]}")


def test_an_account_is_opened_whole_or_not_at_all(system: Actor, acme: Tenant) -> None:
    for _ in range(2):
        open_account(system, "app", WORK, queue="ledger")
    app = User.objects.get(tenant=acme, name="app")
    assert sorted(map(str, app.grants.all())) == [f"allow {action} queue ledger" for action in sorted(WORK)]
    with pytest.raises(CancelboardError):
        open_account(system, "app", [Action.CANCEL], queue="mail")  # a third token
    assert app.grants.count() == len(WORK)
    assert not app.has_usable_password()
    with pytest.raises(CancelboardError):
        open_account(system, "sam", WORK)
    with pytest.raises(CancelboardError):
        open_account(system, "new", WORK, days=400)
    assert not User.objects.filter(name="new").exists()
