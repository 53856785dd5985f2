"""Everything that is not the protocol's own answer: RFC 9457, with a stable code."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError

from runs.api import rate
from runs.models import Job, Tenant, User
from runs.queries import setup

from .cast import Caller, bearer, people, tenant, token_for

Person = Callable[[str], Caller]


@pytest.fixture
def outsider(acme: Tenant, cast: dict[str, User]) -> Caller:
    """An all-powerful service account, of another tenant."""
    return bearer(token_for(people(tenant("umbrella"))["app"]))


ILL_FORMED = ["a b", "-a", "é", "a%00", "a%0A", "%FF", "a" * 129, "j@4294967296", "j@", "a%2Fb", "~j"]
READS = ["/jobs/{}", "/jobs/{}/receipts", "/jobs/{}/preview?command=cancel"]


@pytest.mark.parametrize("path", READS)
def test_a_job_that_is_hidden_reads_as_one_that_there_is_not(app: Caller, person: Person, path: str) -> None:
    app.submit("hidden", owner="customer-2")
    olga = person("olga")
    hidden = olga.get(path.format("hidden")).response
    for job_id in ["missing", *ILL_FORMED]:
        other = olga.get(path.format(job_id)).response
        assert (other.status_code, other.content) == (404, hidden.content), job_id
        assert other.headers == hidden.headers


@pytest.mark.parametrize("command", ["cancel", "pause", "revoke", "observe"])
def test_a_hidden_job_takes_commands_as_one_that_there_is_not(
    app: Caller, person: Person, command: str
) -> None:
    app.submit("hidden", owner="customer-2")
    olga = person("olga")
    body: dict[str, Any] = {"spec_digest": "0" * 64} if command == "cancel" else {}
    if command == "observe":
        body = {"ordinal": 0, "evidence": {"kind": "other", "text": "x"}}
    hidden, missing = (olga.ask(job_id, command, **body).response for job_id in ("hidden", "missing"))
    assert (hidden.status_code, hidden.content) == (missing.status_code, missing.content)


def test_head_is_get_without_its_body(app: Caller, nobody: Caller) -> None:
    app.submit("j")
    for caller, path in [(app, "/jobs/j"), (app, "/jobs"), (app, "/jobs/none"), (nobody, "/whoami")]:
        headers, url = caller.headers, f"/api/v1{path}"
        got, head = caller.client.get(url, headers=headers), caller.client.head(url, headers=headers)
        assert (head.status_code, head.content) == (got.status_code, b""), path
        assert head["Content-Type"] == got["Content-Type"]
    refused = app.client.head("/api/v1/jobs/j/cancel", headers=app.headers)
    assert (refused.status_code, refused["Allow"]) == (405, "POST")


def test_another_tenant_is_another_world(app: Caller, outsider: Caller) -> None:
    app.submit("j")
    pause = app.ask("j", "pause")["receipt"]
    missing = outsider.get("/jobs/missing").response.content
    assert outsider.get("/jobs/j").response.content == missing
    assert outsider.get(f"/receipts/{pause['event_id']}").response.content == missing
    assert outsider.get("/jobs")["jobs"] == []
    assert outsider.submit("j").told == (201, "admitted")
    assert outsider.ask("j", "pause", event_id=pause["event_id"]).told == (200, "paused")


@pytest.mark.parametrize(
    "path", ["/", "/nothing", "/jobs/", "/jobs/j/", "/jobs/j/nothing", "/receipts/", "/docs/x"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_a_path_that_there_is_not(nobody: Caller, path: str, method: str) -> None:
    assert nobody.request(method, path).told == (404, "not_found")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/jobs/j/cancel", "POST"),
        ("DELETE", "/jobs/j", "GET, HEAD"),
        ("PUT", "/jobs", "GET, HEAD, POST"),
        ("POST", "/whoami", "GET, HEAD"),
        ("POST", "/openapi.json", "GET, HEAD"),
        ("BREW", "/jobs", "GET, HEAD, POST"),
    ],
)
def test_a_method_that_is_not_served(nobody: Caller, method: str, path: str, allowed: str) -> None:
    reply = nobody.request(method, path)
    assert reply.told == (405, "method_not_allowed")
    assert sorted(reply.response["Allow"].split(", ")) == sorted(allowed.split(", "))


def test_a_problem_says_all_of_it(app: Caller) -> None:
    reply = app.get("/jobs", limit="0")
    assert reply.response["Content-Type"] == "application/problem+json"
    assert set(reply.body) == {"type", "title", "status", "code", "detail", "errors"}
    assert (reply["type"], reply["status"]) == ("/api/v1/docs#invalid", 422)
    assert reply["errors"] == [{"field": "limit", "message": "must be 1 or more"}]


def test_nobody_on_the_way_keeps_an_answer(app: Caller) -> None:
    app.submit("j")
    for reply in (app.get("/jobs/j"), app.get("/jobs/nothing"), app.post("/jobs/j/claim", {"worker": "w"})):
        assert reply.response["Cache-Control"] == "no-store"


def test_reads_of_a_sealed_generation_are_gone(app: Caller, person: Person) -> None:
    app.submit("kept@3")
    assert app.ask("", "", event_id="x").code == 404  # no such path
    assert app.post("/seal", {"event_id": "s", "generation": 4}).told == (200, "sealed")
    for path in ("/jobs/new@4", "/jobs/new", "/jobs/new@4/receipts"):
        assert app.get(path).told == (410, "sealed")
    assert app.get("/jobs/new@5").told == (404, "not_found")
    assert app.job("kept@3")["generation"] == 3


def test_who_sees_nothing_learns_nothing_of_a_seal(app: Caller, person: Person) -> None:
    app.submit("hidden@1", owner="customer-2")
    app.post("/seal", {"event_id": "s", "generation": 4})
    olga, ada = person("olga"), person("ada")
    assert ada.get("/jobs/new@1").told == (404, "not_found")
    assert olga.get("/jobs/hidden@1").response.content == olga.get("/jobs/new@1").response.content


def test_commands_of_a_sealed_generation(app: Caller) -> None:
    app.post("/seal", {"event_id": "s", "generation": 4})
    assert app.submit("new@4").told == (409, "sealed")
    cancel = app.ask("new@4", "cancel", spec_digest="0" * 64)
    assert cancel.told == (409, "sealed")
    assert (cancel["receipt"]["seq"], cancel["receipt"]["prev_digest"]) == (None, "")
    assert app.post("/seal", {"event_id": "t", "generation": 2})["sealed_generation"] == 4
    assert Job.objects.count() == 0


def test_a_rate_for_each_principal(settings: Any, w1: Caller, app: Caller, monkeypatch: Any) -> None:
    now = [100.0]
    monkeypatch.setattr(rate, "monotonic", lambda: now[0])
    monkeypatch.setattr(rate, "_buckets", {})
    settings.CANCELBOARD_RATE = 2
    assert [w1.get("/whoami").code for _ in range(3)] == [200, 200, 429]
    refused = w1.submit("j")
    assert (refused.told, refused.response["Retry-After"]) == ((429, "too_many"), "1")
    assert app.get("/whoami").code == 200
    now[0] += 0.5
    assert [w1.get("/whoami").code for _ in range(2)] == [200, 429]
    settings.CANCELBOARD_RATE = 0
    assert {w1.get("/whoami").code for _ in range(5)} == {200}
    assert Job.objects.count() == 0


def test_a_database_that_fails_a_read(app: Caller, monkeypatch: Any) -> None:
    def broken(actor: object) -> None:
        raise OperationalError("the connection was closed")

    monkeypatch.setattr(setup, "whoami", broken)
    reply = app.get("/whoami")
    assert (reply.told, reply.response["Retry-After"]) == ((503, "busy"), "1")
    assert "connection" not in reply["detail"]


def test_a_negative_ordinal_is_no_such_step(app: Caller) -> None:
    app.submit("j")
    claim = app.claim("j")
    assert app.ask("j", "report", claim=claim, ordinal=-1, outcome="ok").told == (409, "not_reserved")
    assert app.ask("j", "release", claim=claim, ordinal=-1).told == (409, "unmarked")
    app.submit("k")
    assert app.ask("k", "close_dispute", ordinal=-1).told == (409, "not_disputed")
    looked = {"kind": "other", "text": "x"}
    assert app.ask("k", "observe", ordinal=-1, evidence=looked).told == (409, "not_reserved")
