"""Who gets in: a token or a session, never mixed, and what each is told who does not."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from runs.models import Job, Receipt, Token, User

from .cast import Caller, bearer, people, session, spec, tenant, token_for

Person = Callable[[str], Caller]


def test_without_credentials(nobody: Caller) -> None:
    reply = nobody.get("/whoami")
    assert reply.told == (401, "unauthenticated")
    assert reply.response["WWW-Authenticate"] == "Bearer"
    assert nobody.submit("j").told == (401, "unauthenticated")
    assert Job.objects.count() == 0


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer x", "Basic YTpi", "Bearer cb_00000000_wrong", "cb_x_y"]
)
def test_with_a_header_that_is_nobodys(acme: Any, header: str) -> None:
    assert Caller({"Authorization": header}).get("/whoami").told == (401, "unauthenticated")


def test_the_wrong_secret_of_a_right_prefix(cast: dict[str, User]) -> None:
    token = token_for(cast["w1"])
    assert bearer(token[:-1] + "x").get("/whoami").code == 401
    assert bearer(token).get("/whoami").code == 200


@pytest.mark.parametrize("scheme", ["bearer ", "BEARER ", "Bearer  "])
def test_the_schemes_case_and_spaces_say_nothing(cast: dict[str, User], scheme: str) -> None:
    assert Caller({"Authorization": scheme + token_for(cast["w1"])}).get("/whoami").code == 200


def test_a_token_that_has_expired_or_was_revoked(cast: dict[str, User]) -> None:
    assert bearer(token_for(cast["w1"], days=-1)).get("/jobs").told == (401, "token_dead")
    assert bearer(token_for(cast["w1"], revoked_at=timezone.now())).get("/jobs").told == (401, "token_dead")


def test_an_account_that_is_switched_off(cast: dict[str, User]) -> None:
    caller = bearer(token_for(cast["w1"]))
    User.objects.filter(name="w1").update(is_active=False)
    assert caller.submit("j").told == (401, "principal_inactive")


def test_a_token_reaches_no_further_than_it_says(cast: dict[str, User]) -> None:
    reader = bearer(token_for(cast["w1"], ["view"]))
    reply = reader.submit("j")
    assert reply.told == (403, "token_ceiling")
    elsewhere = bearer(token_for(cast["app"], queues=["ledger"]))
    assert elsewhere.submit("j").told in {(403, "token_ceiling"), (404, "not_found")}
    assert Job.objects.count() == 0


def test_whoami(w1: Caller, person: Person) -> None:
    told = w1.get("/whoami").body
    token = Token.objects.get()
    assert (told["name"], told["kind"], told["tenant"]) == ("w1", "service", "acme")
    assert told["token"]["prefix"] == token.prefix
    assert told["token"]["actions"] == ["view", "submit", "execute"]
    assert person("lena").get("/whoami").body == {
        "name": "lena",
        "kind": "person",
        "tenant": "acme",
        "token": None,
    }


def test_a_session_needs_its_csrf_token_to_change_something(app: Caller, cast: dict[str, User]) -> None:
    app.submit("j")
    lena = session(cast["lena"])
    del lena.headers["X-CSRFToken"]
    assert lena.get("/jobs/j").code == 200
    cancel = {"event_id": "e", "spec_digest": lena.job("j")["spec_digest"]}
    assert lena.post("/jobs/j/cancel", cancel).told == (403, "csrf")
    lena.headers["X-CSRFToken"] = "b" * 32
    assert lena.post("/jobs/j/cancel", cancel).told == (403, "csrf")
    assert Receipt.objects.filter(kind="cancel").count() == 0
    lena.headers["X-CSRFToken"] = lena.client.cookies["csrftoken"].value
    assert lena.post("/jobs/j/cancel", cancel).told == (202, "requested")


@pytest.mark.parametrize(
    "content_type", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=b"]
)
def test_a_form_of_another_page_is_not_even_read(
    app: Caller, cast: dict[str, User], content_type: str
) -> None:
    app.submit("j")
    lena = session(cast["lena"])
    del lena.headers["X-CSRFToken"]
    assert lena.raw("/jobs/j/cancel", b"csrfmiddlewaretoken=" + b"a" * 32, content_type).code == 415


def test_a_header_counts_before_a_cookie(cast: dict[str, User]) -> None:
    both = session(cast["lena"])
    both.headers["Authorization"] = "Bearer cb_00000000_wrong"
    assert both.get("/whoami").code == 401


def test_a_token_needs_no_csrf_token(cast: dict[str, User]) -> None:
    caller = bearer(token_for(cast["w1"]))
    caller.client = Client(enforce_csrf_checks=True)
    assert caller.submit("j").told == (201, "admitted")


def test_a_service_account_approves_nothing_and_a_person_executes_nothing(
    app: Caller, person: Person
) -> None:
    app.submit("j")
    assert app.ask("j", "approve", proposal="p-1").told == (403, "principal_kind")
    assert person("lena").post("/jobs/j/claim", {"worker": "w"}).told == (403, "principal_kind")


def test_a_right_that_is_missing_on_a_job_that_is_seen(app: Caller, person: Person) -> None:
    app.submit("j")
    digest = app.job("j")["spec_digest"]
    assert person("sam").ask("j", "cancel", spec_digest=digest).told == (403, "no_grant")
    assert person("aud").ask("j", "cancel", spec_digest=digest).told == (403, "explicit_deny")
    assert Receipt.objects.filter(kind="cancel").count() == 0


def test_a_customer_sees_and_stops_their_own(app: Caller, person: Person) -> None:
    app.submit("own", owner="customer-1")
    app.submit("other", owner="customer-2")
    olga = person("olga")
    assert [job["job_id"] for job in olga.get("/jobs")["jobs"]] == ["own"]
    assert olga.get("/jobs/other").told == (404, "not_found")
    assert olga.ask("own", "cancel", spec_digest=olga.job("own")["spec_digest"]).told == (202, "requested")


def test_who_may_submit_but_sees_nothing_there_submits_nothing(cast: dict[str, User]) -> None:
    blind = bearer(token_for(cast["app"], ["submit", "cancel"]))
    assert blind.submit("j").told == (404, "not_found")
    assert Job.objects.count() == 0


def test_an_unknown_job_is_told_only_to_who_may_do_it_somewhere(person: Person) -> None:
    assert person("lena").ask("j", "cancel", spec_digest="0" * 64).told == (422, "spec_required")
    assert person("sam").ask("j", "cancel", spec_digest="0" * 64).told == (404, "not_found")
    assert person("sam").ask("j", "revoke").told == (404, "not_found")


def test_another_tenants_job_takes_no_id(app: Caller, cast: dict[str, User]) -> None:
    other = bearer(token_for(people(tenant("other"))["app"]))
    assert other.submit("j", steps=["Theirs"]).told == (201, "admitted")
    assert app.submit("j").told == (201, "admitted")


def test_the_tenant_comes_from_the_credentials(app: Caller, w1: Caller) -> None:
    app.submit("j")
    assert w1.post("/jobs", {"job_id": "j", "tenant": "other", "spec": spec()}).fields == ["tenant"]
    assert w1.job("j")["tenant"] == "acme"
