"""Receipts through the API: the same text for every reader, verifiable from it alone."""

from collections.abc import Callable
from typing import Any

import pytest

from runs.protocol.canonical import receipt_digest

from .cast import Caller, spec

Person = Callable[[str], Caller]
KEYS = "seq event_id job_id kind status actor ordinal body detail at prev_digest digest".split()  # noqa: SIM905


@pytest.fixture
def story(app: Caller) -> Caller:
    app.submit("j")
    claim = app.claim("j")
    app.post("/jobs/j/reserve", {"claim": claim})
    app.ask("j", "cancel", event_id="stop", spec=spec(), note="zu früh 太早")
    app.ask("j", "report", event_id="done", claim=claim, ordinal=0, outcome="ok", value="250")
    return app


def test_a_chain_is_verified_from_the_json_alone(story: Caller) -> None:
    receipts = story.get("/jobs/j/receipts")["receipts"]
    before = "0" * 64
    for number, receipt in enumerate(receipts, 1):
        assert sorted(receipt) == sorted(KEYS)
        assert (receipt["seq"], receipt["prev_digest"]) == (number, before)
        before = receipt_digest(receipt)
        assert receipt["digest"] == before
    assert story.job("j")["head_digest"] == before


def test_pages_of_receipts_hold_each_once(story: Caller) -> None:
    whole = story.get("/jobs/j/receipts")
    assert whole["next_after"] is None
    seen: list[Any] = []
    after: int | None = 0
    while after is not None:
        page = story.get("/jobs/j/receipts", after=str(after), limit="4")
        seen += page["receipts"]
        after = page["next_after"]
    assert seen == whole["receipts"]
    assert len(seen) == 6


def test_a_receipt_by_its_event_id(story: Caller) -> None:
    found = story.get("/receipts/stop").body
    assert found == story.get("/jobs/j/receipts").body["receipts"][3]
    assert (found["kind"], found["status"], found["body"]["note"]) == ("cancel", "requested", "zu früh 太早")
    assert (found["body"]["cause"], found["body"]["grace_seconds"]) == ("canceled_no_cause", 90)


def test_the_first_receipt_holds_the_whole_spec(story: Caller) -> None:
    first = story.get("/jobs/j/receipts", limit="1")["receipts"][0]
    assert first["body"]["spec"]["steps"][1] == {"label": "Tell them", "tool": "", "target": "", "params": {}}
    assert first["actor"] == {"type": "service", "name": "app"}


@pytest.mark.parametrize("event_id", ["nothing", "~" + "a" * 64, "~", "a b", "-a", "é", "a%00b", "e" * 200])
def test_an_event_id_that_there_is_not(story: Caller, event_id: str) -> None:
    assert story.get(f"/receipts/{event_id}").told == (404, "not_found")


def test_a_receipt_is_seen_with_its_job(story: Caller, person: Person) -> None:
    story.submit("other", owner="customer-2")
    story.ask("other", "pause", event_id="hidden")
    olga = person("olga")
    assert olga.get("/receipts/stop").code == 200
    assert olga.get("/receipts/hidden").response.content == olga.get("/receipts/nothing").response.content


def test_a_receipt_without_a_job_is_its_actors_and_the_tenants(
    app: Caller, w1: Caller, person: Person
) -> None:
    refused = w1.ask("unknown", "report", event_id="r", claim="1-x", ordinal=0, outcome="ok")
    assert refused.told == (409, "not_admitted")
    assert (refused["receipt"]["seq"], refused["receipt"]["job_id"]) == (None, "unknown")
    assert w1.get("/receipts/r").body == refused["receipt"]
    assert person("sam").get("/receipts/r").code == 200  # who may see every job of the tenant
    assert person("olga").get("/receipts/r").code == 404
    app.post("/seal", {"event_id": "s", "generation": 1})
    assert app.get("/receipts/s").code == 200
    assert w1.get("/receipts/s").code == 404
