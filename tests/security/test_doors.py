"""At the doors: forms and requests of other pages, sessions and passwords, tokens in the wrong place, bodies
that are too large or say too much, ids that are paths, and headers."""

import logging
from collections.abc import Callable

import pytest
from django.conf import settings
from django.test import Client

from cancelboard.logs import OneLine
from runs.demo.people import cast
from runs.models import Grant, Job, Receipt, Token, User
from runs.permissions import Action, Actor, Line, grant, issue_token
from tests.api.cast import Caller, bearer, session
from tests.board.cast import Browser, Stage

Api = Callable[[str], Caller]
Strict = Callable[[User], Client]
PASSWORD = "a password of everybody's own"

FORMS = (
    "/login/",
    "/logout/",
    *(f"/jobs/order-1/{name}/" for name in ("cancel", "pause", "resume", "revoke", "close_dispute")),
    "/jobs/order-1/steps/0/outcome/",
    *(f"/admin/runs/{model}/add/" for model in ("user", "grant", "token", "queue", "tool", "cause")),
    "/admin/auth/group/add/",
    "/admin/password_change/",
)


@pytest.fixture
def administrator(stage: Stage) -> User:
    User.objects.filter(name="lena").update(is_staff=True, is_superuser=True)
    grant(stage.actors["system"], stage.people["lena"], [Line(Action.MANAGE_GRANTS)])
    return User.objects.get(name="lena")


# -- requests of other pages ---------------------------------------------------------------------------------
@pytest.mark.parametrize("path", FORMS)
def test_each_form_wants_its_token(stage: Stage, administrator: User, strict: Strict, path: str) -> None:
    stage.unknown("order-1")
    before = Receipt.objects.count(), Grant.objects.count(), User.objects.count()
    client = strict(administrator)
    for fields in ({}, {"csrfmiddlewaretoken": "a" * 64}):
        assert client.post(path, {"event_id": "forged", "because": "x", **fields}).status_code == 403
    assert (Receipt.objects.count(), Grant.objects.count(), User.objects.count()) == before
    assert client.get("/jobs/").status_code == 200, "and nobody was signed out"


def paths_that_change() -> list[str]:
    from runs.api import api

    paths = api.document()["paths"]
    return sorted(path for path, operations in paths.items() if "post" in operations)


@pytest.mark.parametrize("path", paths_that_change())
def test_each_command_of_a_session_wants_its_token(stage: Stage, strict: Strict, path: str) -> None:
    stage.unknown("order-1")
    before = Receipt.objects.count()
    client = strict(stage.people["lena"])
    for name in ("job_id", "operation_id"):
        path = path.replace(f"{{{name}}}", "order-1")
    answer = client.post(path, {"event_id": "forged"}, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf")
    text = client.post(path, '{"event_id": "forged"}', content_type="text/plain")
    assert text.status_code in (403, 415), "what a page may send without asking first"
    assert Receipt.objects.count() == before


def test_another_origin_is_not_believed_even_with_the_token(stage: Stage) -> None:
    stage.submit("order-1")
    lena = session(stage.people["lena"])
    lena.headers["Origin"] = "https://evil.test"
    digest = stage.specs["order-1"].digest
    assert lena.ask("order-1", "cancel", spec_digest=digest).told == (403, "csrf")
    assert stage.row("order-1").control == "run"


def test_no_other_page_may_read_an_answer(stage: Stage) -> None:
    lena = session(stage.people["lena"])
    for path in ("/api/v1/jobs", "/api/v1/openapi.json", "/jobs/"):
        for method in ("get", "options"):
            answer = getattr(lena.client, method)(path, headers={"Origin": "https://evil.test"})
            assert not [name for name in answer.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize("command", ["cancel", "pause", "revoke", "reconcile", "approve", "checkpoint"])
def test_no_link_and_no_overridden_method_carries_out_a_command(stage: Stage, command: str) -> None:
    stage.submit("order-1")
    before = Receipt.objects.count()
    lena = session(stage.people["lena"])
    lena.headers["X-HTTP-Method-Override"] = "POST"
    assert lena.request("GET", f"/jobs/order-1/{command}", {"_method": "POST"}).code == 405
    assert Receipt.objects.count() == before


# -- sessions and passwords ----------------------------------------------------------------------------------
@pytest.fixture
def known(stage: Stage) -> None:
    cast(PASSWORD)


def sign_in(client: Client, name: str, password: str, address: str = "10.0.0.1", **headers: str) -> int:
    given = {"username": name, "password": password}
    return client.post("/login/", given, REMOTE_ADDR=address, headers=headers).status_code


def test_a_session_that_was_put_on_somebody_is_not_theirs(stage: Stage, known: None) -> None:
    client = Client()
    client.cookies["sessionid"] = "an-attackers-own-choice-0123456"
    assert sign_in(client, "sam", PASSWORD) == 302
    given = client.cookies["sessionid"].value
    assert given != "an-attackers-own-choice-0123456"
    client.logout()
    visitor = Client()
    visitor.get("/login/")
    visitor.session.save()
    before = visitor.session.session_key
    assert sign_in(visitor, "sam", PASSWORD) == 302
    assert visitor.cookies["sessionid"].value != before


def test_a_kept_cookie_is_worth_nothing_after_signing_out(stage: Stage, known: None) -> None:
    client = Client()
    sign_in(client, "sam", PASSWORD)
    kept = client.cookies["sessionid"].value
    client.post("/logout/")
    thief = Client()
    thief.cookies["sessionid"] = kept
    assert thief.get("/jobs/").status_code == 302


def test_the_session_cookie_is_kept_from_scripts_and_other_sites(stage: Stage, known: None) -> None:
    client = Client()
    sign_in(client, "sam", PASSWORD)
    cookie = client.cookies["sessionid"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert not cookie["domain"]
    assert settings.SESSION_COOKIE_SECURE is settings.CANCELBOARD_HTTPS
    assert cookie["max-age"] == 12 * 60 * 60


def test_spraying_passwords_locks_nobody_else_out(stage: Stage, known: None) -> None:
    for n in range(6):
        for name in ("sam", "lena", "omar", f"nobody-{n}"):
            sign_in(Client(), name, f"Winter{n}!", address="10.6.6.6")
    for name in ("sam", "lena", "omar"):
        assert sign_in(Client(), name, PASSWORD, address="10.6.6.6") == 429, "the sprayer has to wait"
        assert sign_in(Client(), name, PASSWORD) == 302, "the person does not"


def test_a_header_makes_no_other_address(stage: Stage, known: None) -> None:
    """Else every try would come from a new one."""
    for n in range(5):
        told = sign_in(
            Client(), "sam", "wrong", **{"X-Forwarded-For": f"10.1.1.{n}", "X-Real-IP": f"10.1.1.{n}"}
        )
    assert told == 429
    assert sign_in(Client(), "sam", PASSWORD, **{"X-Forwarded-For": "10.9.9.9"}) == 429


def test_a_name_that_there_is_not_reads_like_a_wrong_password(stage: Stage, known: None) -> None:
    answers = []
    for name in ("sam", "acme/w1", "nobody"):
        page = Browser().post("/login/", {"username": name, "password": "wrong"})
        answers.append((page.status, page.text))
    assert len(set(answers)) == 1


def test_the_admin_has_no_second_login(stage: Stage, known: None) -> None:
    for _ in range(3):
        answer = Client().post("/admin/login/", {"username": "ada", "password": PASSWORD})
        assert answer.status_code == 302
        assert answer["Location"].startswith("/login/?next=")
    away = Client().get("/admin/login/?next=https://evil.test/")["Location"]
    client = Client()
    told = client.post(away, {"username": "ada", "password": PASSWORD, "next": "https://evil.test/"})
    assert told["Location"] == "/"


def test_where_a_part_of_a_page_leads_is_our_own_page(stage: Stage) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "https://evil.test/jobs/"}
    answer = Client().get("/jobs/", headers=headers)
    assert answer.status_code == 401
    assert answer["HX-Redirect"] == "/login/?next=%2Fjobs%2F"


@pytest.mark.parametrize("given", ["/jobs/\r\nX-Evil: 1", "/jobs/%0d%0aX-Evil:%201", "/\nSet-Cookie: a=b"])
def test_no_header_is_smuggled_in(stage: Stage, known: None, given: str) -> None:
    client = Client()
    answer = client.post("/login/", {"username": "sam", "password": PASSWORD, "next": given})
    assert answer.status_code == 302
    assert "X-Evil" not in answer.headers
    assert "\n" not in answer["Location"]
    assert "a" not in client.cookies


def test_a_host_that_is_not_ours_is_refused(stage: Stage) -> None:
    for host in ("evil.test", "localhost.evil.test", "localhost@evil.test"):
        assert Client().get("/login/", headers={"Host": host}).status_code == 400


# -- tokens --------------------------------------------------------------------------------------------------
@pytest.fixture
def token(stage: Stage) -> str:
    return issue_token(stage.actors["system"], stage.people["w1"], [Action.VIEW, Action.SUBMIT])[1]


@pytest.mark.parametrize("name", ["token", "access_token", "api_key", "authorization", "Authorization"])
def test_a_token_in_an_address_lets_nobody_in(stage: Stage, token: str, name: str) -> None:
    for value in (token, f"Bearer {token}"):
        assert Client().get("/api/v1/jobs", {name: value}).status_code == 401
        assert Client().get("/jobs/", {name: value}).status_code == 302


def test_a_page_takes_no_token_and_the_admin_none(stage: Stage, token: str) -> None:
    for path in ("/jobs/", "/verify/", "/admin/", "/admin/runs/job/"):
        answer = Client().get(path, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 302, path


def test_no_token_is_logged_whether_it_counts_or_not(
    stage: Stage, token: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = token.split("_", 2)[2]
    bearer(token).get("/whoami")
    bearer(token + "x").get("/whoami")
    bearer(token).submit("order-9", queue="nowhere")
    Token.objects.update(expires_at=stage.clock())
    bearer(token).get("/whoami")
    stage.begin("order-1")
    assert secret not in caplog.text
    assert stage.tokens["order-1"] not in caplog.text


def test_a_claims_token_stands_in_no_receipt_and_no_read(stage: Stage, api: Api) -> None:
    stage.begin("order-1")
    claim = stage.tokens["order-1"]
    lena = api("lena")
    for path in ("/jobs/order-1", "/jobs/order-1/receipts", "/jobs"):
        assert claim not in lena.get(path).response.content.decode()
    for row in Receipt.objects.all():
        assert claim not in row.body + row.detail


def test_a_name_in_a_log_line_starts_no_line(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    forged = "sam\n2026-01-01 INFO runs: lena logged in\x1b[2J"
    Client().post("/login/", {"username": forged, "password": "x"})
    Client().get("/api/v1/jobs/a%0A2026-01-01%20INFO%20forged")
    one_line = OneLine(settings.LOG_LINE, style="{")
    for record in caplog.records:
        assert "\n" not in one_line.format(record).replace("\n  | ", "")
        assert "\x1b" not in one_line.format(record)


# -- bodies --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("more", ["tenant", "actor", "at", "seq", "force", "is_superuser", "grant", "status"])
def test_what_a_command_does_not_have_is_refused(stage: Stage, api: Api, more: str) -> None:
    stage.submit("order-1")
    digest = stage.specs["order-1"].digest
    refused = api("lena").ask("order-1", "cancel", **{"spec_digest": digest, more: "x"})
    assert (refused.code, refused.fields) == (422, [more])
    assert stage.row("order-1").control == "run"


def test_a_form_takes_nothing_that_it_does_not_show(stage: Stage) -> None:
    stage.submit("order-1")
    stage.submit("order-2")
    lena = stage.browser("lena")
    given = lena.fill("/jobs/order-1/cancel/", cause="user_requested")
    more = {
        "job_id": "order-2",
        "actor": "omar",
        "by": "omar",
        "tenant": "9",
        "spec_digest": "0" * 64,
        "cascade": "on",
    }
    assert lena.post("/jobs/order-1/cancel/", given | more).status == 302
    assert (stage.row("order-1").control, stage.row("order-2").control) == ("acknowledged", "run")
    assert Receipt.objects.get(kind="cancel").actor_name == "lena"


def test_a_form_that_is_too_large_is_refused_and_records_nothing(stage: Stage, administrator: User) -> None:
    stage.submit("order-1")
    lena = stage.browser("lena")
    huge = {"event_id": "e-1", "cause": "other", "note": "x" * (1024 * 1024 + 1)}
    many = {f"field-{n}": "x" for n in range(1001)}
    for fields in (huge, many):
        for path in ("/jobs/order-1/cancel/", "/login/", "/admin/runs/queue/add/"):
            assert lena.client.post(path, fields).status_code in (400, 413), path
    assert stage.row("order-1").control == "run"


# -- ids -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "job_id",
    [
        *("..", "../order-1", "..%2forder-1", "%2e%2e%2forder-1", "order-1/..", "order-1%2f..", "/order-1"),
        *(
            "order-1%00",
            "order-1%0a",
            "order-1%20",
            "order-1;a=b",
            "order-1%3Fx",
            "ORDER-1",
            "ｏrder-1",
            "order-1.",
        ),
    ],
)
def test_an_id_that_is_a_path_or_nearly_another_is_nobody(stage: Stage, api: Api, job_id: str) -> None:
    stage.submit("order-1")
    told = api("lena").client.get(f"/api/v1/jobs/{job_id}")
    assert told.status_code == 404
    assert told.json()["code"] == "not_found"
    assert stage.browser("lena").get(f"/jobs/{job_id}/").status in (404, 301)


@pytest.mark.parametrize("event_id", ["~" + "0" * 64, "~mine", "", "-x", "a b", "a/b", "x" * 129, "é"])
def test_the_servers_own_event_ids_are_not_for_callers(stage: Stage, api: Api, event_id: str) -> None:
    stage.submit("order-1")
    digest = stage.specs["order-1"].digest
    refused = api("lena").ask("order-1", "cancel", spec_digest=digest, event_id=event_id)
    assert (refused.code, refused.fields) == (422, ["event_id"])


def test_an_id_is_not_taken_where_one_may_not_submit(stage: Stage, w1: Caller) -> None:
    spec = {"queue": "ledger", "owner": "customer-2", "steps": ["x"]}
    assert w1.post("/jobs", {"job_id": "ledger-1", "spec": spec}).told == (404, "not_found")
    block = {"event_id": "e-b", "spec": spec | {"queue": "mail"}, "cause": "other"}
    assert w1.post("/jobs/mail-9/cancel", block).told == (403, "token_ceiling")
    assert not Job.objects.exists()


def test_nobody_is_called_like_the_server(stage: Stage) -> None:
    from runs.errors import Invalid
    from runs.permissions import changing, open_account
    from runs.permissions.accounts import new_person

    system = Actor.system(stage.tenant)
    for name in ("system", "System", "verifier:smtp", "verifier"):
        with pytest.raises(Invalid), changing(system) as change:
            new_person(change, name, name)
        with pytest.raises(Invalid):
            open_account(system, name, [Action.VIEW])


# -- rights that end -----------------------------------------------------------------------------------------
def test_a_form_that_was_opened_with_a_right_that_has_ended(stage: Stage) -> None:
    stage.submit("order-1")
    omar = stage.browser("omar")
    filled = omar.fill("/jobs/order-1/cancel/", cause="user_requested")
    Grant.objects.filter(user=stage.people["omar"], action="cancel").update(revoked_at=stage.clock())
    assert omar.post("/jobs/order-1/cancel/", filled).status == 403
    assert stage.row("order-1").control == "run"
    assert not Receipt.objects.filter(event_id=filled["event_id"]).exists(), "its event id is still free"


def test_one_principal_opens_only_so_many_sockets() -> None:
    from runs.consumers.hub import MOST_LISTENERS, Hub

    class Tab:
        def __init__(self, user_id: int) -> None:
            self.user_id = user_id

    hub, mine = Hub(), {Tab(1) for _ in range(MOST_LISTENERS)}
    hub.listeners[7] = {*mine, Tab(2)}  # type: ignore[assignment]
    assert not hub.has_room_for(1, 7)
    assert hub.has_room_for(2, 7)
    assert hub.has_room_for(1, 8)
    hub.listeners[7].discard(mine.pop())  # type: ignore[arg-type]
    assert hub.has_room_for(1, 7)
