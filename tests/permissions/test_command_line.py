"""`manage.py setup`, `token` and `can`: what they print, and their exit codes."""

from collections.abc import Callable

import pytest

from runs.commands import do
from runs.demo.people import cast
from runs.management.commands.token import Command
from runs.models import Grant, Queue, Tenant, Token, User
from runs.permissions import Actor, authenticate
from runs.protocol.asks import Submit
from runs.protocol.spec import Spec
from runs.protocol.states import ActorType
from tests.support.databases import Database
from tests.support.manage import Ended


@pytest.fixture
def people(real_db: Database) -> dict[str, User]:
    return cast()


def test_setup_from_nothing(manage: Callable[..., Ended]) -> None:
    ended = manage("setup", "--tenant", "new", "--queue", "mail", "--queue", "ledger", "--admin", "eve")
    assert ended.code == 0
    assert [line.rpartition(": ")[2] for line in ended.out.splitlines()[:4]] == ["made"] * 4
    eve = User.objects.get(username="eve")
    assert set(Queue.objects.filter(tenant=eve.tenant).values_list("name", flat=True)) == {"mail", "ledger"}
    assert (eve.is_staff, eve.is_superuser, eve.tenant.name) == (True, True, "new")
    assert [str(grant) for grant in eve.grants.all()] == ["allow manage_grants tenant"]
    assert eve.check_password(ended.out.split()[-1])


def test_setup_again_changes_nothing_and_says_so(manage: Callable[..., Ended]) -> None:
    arguments = ("setup", "--tenant", "new", "--queue", "mail", "--admin", "eve")
    manage(*arguments)
    before = User.objects.get(username="eve").password
    ended = manage(*arguments)
    assert ended.code == 0
    assert [line.rpartition(": ")[2] for line in ended.out.splitlines()] == ["exists, left as it is"] * 3
    assert User.objects.get(username="eve").password == before
    assert Grant.objects.count() == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--tenant", "new"),
        ("--queue", "mail"),
        ("--tenant", "no spaces", "--queue", "mail"),
        ("--tenant", "new", "--queue", "mail/x"),
        ("--tenant", "new", "--queue", "mail", "--admin", "a/b"),
        ("--tenant", "new", "--queue", "mail", "--admin", "sam"),
    ],
)
def test_setup_used_wrongly(
    manage: Callable[..., Ended], people: dict[str, User], arguments: tuple[str, ...]
) -> None:
    assert manage("setup", *arguments).code == 2
    assert not Tenant.objects.filter(name="new").exists(), "judged before anything is made"


def test_setup_calls_nobody_an_administrator_who_is_none(
    manage: Callable[..., Ended], people: dict[str, User]
) -> None:
    ended = manage("setup", "--tenant", "acme", "--queue", "more", "--admin", "sam")
    assert (ended.code, "no administrator" in ended.err) == (2, True)
    assert not Queue.objects.filter(name="more").exists()


def test_a_token_alone_on_standard_output(manage: Callable[..., Ended], people: dict[str, User]) -> None:
    ended = manage(
        "token", "--tenant", "acme", "--name", "app", "--allow", "view,submit", "--queue", "mail",
        "--days", "7", "--sponsor", "omar",
    )  # fmt: skip
    assert (ended.code, ended.err) == (0, "")
    actor = authenticate(f"Bearer {ended.out.removesuffix(chr(10))}")
    assert (actor.type, actor.name) == (ActorType.SERVICE, "app")
    app, token = User.objects.get(name="app", tenant_id=actor.tenant_id), Token.objects.get()
    assert (app.pk, token.pk) == (actor.user_id, actor.token_id)
    assert app.sponsor == people["omar"]
    assert (token.actions, token.queues) == (["submit", "view"], ["mail"])
    assert (token.expires_at - token.created_at).days == 7
    assert sorted(map(str, app.grants.all())) == ["allow submit queue mail", "allow view queue mail"]


def test_without_a_queue_it_is_for_the_tenant(manage: Callable[..., Ended], people: dict[str, User]) -> None:
    assert manage("token", "--tenant", "acme", "--name", "app", "--allow", "view").code == 0
    assert [str(grant) for grant in User.objects.get(name="app").grants.all()] == ["allow view tenant"]
    assert Token.objects.get().queues == []


def test_a_third_live_token(manage: Callable[..., Ended], people: dict[str, User]) -> None:
    arguments = ("token", "--tenant", "acme", "--name", "app", "--allow", "view")
    assert [manage(*arguments).code for _ in range(2)] == [0, 0]
    third = manage(*arguments, "--queue", "mail")
    assert (third.code, third.out) == (2, "")
    assert "two live tokens" in third.err
    assert Token.objects.count() == 2
    assert User.objects.get(name="app").grants.count() == 1, "nothing of it was kept"


@pytest.mark.parametrize(
    "wrong",
    [
        {"--tenant": "nowhere"},
        {"--allow": "view,fly"},
        {"--allow": ""},
        {"--allow": "approve"},
        {"--allow": "seal", "--queue": "mail"},
        {"--queue": "nowhere"},
        {"--days": "0"},
        {"--days": "366"},
        {"--days": "x"},
        {"--sponsor": "nobody"},
        {"--sponsor": "acme/w1"},
        {"--name": "sam"},
        {"--name": "a/b"},
    ],
    ids=str,
)
def test_token_used_wrongly(
    manage: Callable[..., Ended], people: dict[str, User], wrong: dict[str, str]
) -> None:
    given = {"--tenant": "acme", "--name": "app", "--allow": "view"} | wrong
    ended = manage("token", *[word for pair in given.items() for word in pair])
    assert (ended.code, ended.out) == (2, "")
    assert not Token.objects.exists()
    assert not User.objects.filter(name="app").exists()


def test_can(manage: Callable[..., Ended], people: dict[str, User]) -> None:
    spec = Spec.model_validate({"queue": "mail", "owner": "customer-1", "steps": ["Send it"]})
    do(Actor.system(Tenant.objects.get()), "job-1", Submit(job_id="job-1", spec=spec))
    assert manage("can", "lena", "cancel", "job-1").code == 0
    assert manage("can", "acme/w1", "execute", "job-1").code == 0
    refused = manage("can", "sam", "cancel", "job-1")
    assert refused.code == 1
    assert "no_grant" in refused.out + refused.err
    assert manage("can", "aud", "cancel", "job-1").out.count("explicit_deny") == 1
    for wrong in (
        ("nobody", "cancel", "job-1"),
        ("sam", "fly", "job-1"),
        ("sam", "cancel", "job-9"),
        ("sam", "cancel"),
    ):
        assert manage("can", *wrong).code == 2


def test_the_help_says_how_a_token_is_revoked() -> None:
    assert "revoked in the admin" in Command.help
