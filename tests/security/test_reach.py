"""Reaching what is somebody else's: by fragments, lists, cursors, ids of events and proposals, other tenants'
tokens, and by what an answer costs or how it is worded."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.models import Proposal, Receipt
from tests.api.cast import Caller
from tests.board.cast import REFUSED, Browser, Stage

Api = Callable[[str], Caller]
Look = Callable[[str], Browser]


@pytest.fixture
def theirs(stage: Stage) -> Stage:
    stage.submit("mine")
    stage.unknown("theirs", "Their title", owner="customer-2")
    return stage


@pytest.mark.parametrize("path", ["/jobs/", "/verify/", "/jobs/mine/"])
def test_a_patch_brings_no_row_that_one_may_not_see(theirs: Stage, page: Look, path: str) -> None:
    answer = page("olga").get(path, fragment=True, jobs="theirs,mine", shown="theirs")
    assert answer.status == 200
    assert "theirs" not in answer.html
    assert "Their title" not in answer.html


def test_somebody_elses_cursor_leads_on_through_ones_own(stage: Stage, api: Api) -> None:
    for n in range(6):
        stage.submit(f"j-{n}", owner=f"customer-{n % 2 + 1}")
    cursor = api("lena").get("/jobs", limit=1)["next_cursor"]
    seen = {job["owner"] for job in api("olga").get("/jobs", cursor=cursor)["jobs"]}
    assert seen == {"customer-1"}


@pytest.mark.parametrize("change", ["x", "{}x", "x{}", "eyJhIjoxfQ:1:2", "{}'--", "0"])
def test_a_cursor_of_ones_own_making_is_refused(stage: Stage, api: Api, change: str) -> None:
    for n in range(3):
        stage.submit(f"j-{n}")
    cursor = api("lena").get("/jobs", limit=1)["next_cursor"]
    assert api("lena").get("/jobs", cursor=change.format(cursor)).fields == ["cursor"]


def test_event_ids_of_others_read_as_none(theirs: Stage, api: Api, page: Look) -> None:
    event = Receipt.objects.filter(job__job_id="theirs", event_id__isnull=False).latest("pk").event_id
    olga = api("olga")
    there, missing = olga.get(f"/receipts/{event}").response, olga.get("/receipts/e-none").response
    assert (
        (there.status_code, there.content) == (missing.status_code, missing.content) == (404, missing.content)
    )
    one, none = page("olga").get(f"/events/{event}/"), page("olga").get("/events/e-none/")
    assert one.lasting.replace(str(event), "e-none") == none.lasting


READS: tuple[str, ...] = ("", "/receipts", "/preview?command=cancel", "/certificate")


@pytest.mark.parametrize("path", READS)
def test_hidden_and_missing_cost_the_same_at_the_api(theirs: Stage, api: Api, path: str) -> None:
    olga = api("olga")
    costs = []
    for job in ("missing", "theirs", "missing", "theirs"):
        with CaptureQueriesContext(connection) as seen:
            assert olga.get(f"/jobs/{job}{path}").code == 404
        costs.append([query["sql"].split(" ")[0] for query in seen.captured_queries])
    assert costs[2] == costs[3]


@pytest.mark.parametrize("path", ["", "cancel/", "pause/", "steps/0/outcome/"])
def test_hidden_and_missing_cost_the_same_on_the_board(theirs: Stage, page: Look, path: str) -> None:
    olga = page("olga")
    costs = []
    for job in ("missing", "theirs", "missing", "theirs"):
        with CaptureQueriesContext(connection) as seen:
            assert olga.get(f"/jobs/{job}/{path}").status == 404
        costs.append(len(seen.captured_queries))
    assert costs[2] == costs[3]


def test_a_proposal_is_not_decided_by_way_of_another_job(stage: Stage, api: Api) -> None:
    stage.unknown("wanted", queue="books")
    stage.unknown("other", queue="books")
    stage("system", "wanted", "revoke", cause="operator_requested")
    told = api("lena").ask(
        "wanted", "reconcile", ordinal=0, outcome="rejected", evidence=REFUSED.model_dump()
    )
    assert told.told == (202, "proposed")
    for command in ("approve", "decline"):
        assert api("lena").ask("other", command, proposal=told["proposal"]).told == (404, "not_found")
    assert Proposal.objects.get().state == "open"


def test_an_own_proposal_is_not_approved_by_a_forged_form(stage: Stage, api: Api, page: Look) -> None:
    stage.unknown("wanted", queue="books")
    stage("system", "wanted", "revoke", cause="operator_requested")
    lena = api("lena")
    told = lena.ask("wanted", "reconcile", ordinal=0, outcome="rejected", evidence=REFUSED.model_dump())
    before = Receipt.objects.count()
    assert lena.ask("wanted", "approve", proposal=told["proposal"]).told == (403, "same_person")
    forged = page("lena").post("/jobs/wanted/approve/", {"event_id": "f-1", "proposal": told["proposal"]})
    assert forged.status in (403, 404)
    assert Receipt.objects.count() == before


COMMANDS: dict[str, dict[str, Any]] = {
    "cancel": {"spec_digest": "0" * 64},
    "pause": {},
    "resume": {},
    "revoke": {},
    "observe": {"ordinal": 0, "evidence": {"kind": "other", "text": "x"}},
    "close_dispute": {"ordinal": 0, "note": "x"},
}


def test_another_tenants_token_finds_nothing(theirs: Stage, stranger: Caller) -> None:
    before = Receipt.objects.filter(tenant=theirs.tenant).count()
    for command, body in COMMANDS.items():
        there = stranger.ask("theirs", command, **body)
        missing = stranger.ask("missing", command, **body)
        assert there.told == missing.told, command
    for path in ("", "/receipts", "/preview?command=cancel"):
        assert stranger.get(f"/jobs/theirs{path}").code == 404
    claims = {"claim": theirs.tokens["theirs"]}
    for command, more in (("heartbeat", {}), ("reserve", {}), ("report", {"ordinal": 0, "outcome": "ok"})):
        assert stranger.post(f"/jobs/theirs/{command}", claims | more).code in (404, 409, 422), command
    assert stranger.get("/jobs")["jobs"] == []
    assert Receipt.objects.filter(tenant=theirs.tenant).count() == before
    assert theirs.row("theirs").cur == "unknown"


@pytest.mark.parametrize(
    "q", ["%", "_", "%' OR 1=1 --", "' OR '1'='1", "\\", "x' UNION SELECT secret_hash--"]
)
def test_a_search_is_text_and_no_pattern(theirs: Stage, api: Api, page: Look, q: str) -> None:
    assert api("lena").get("/jobs", q=q)["jobs"] == []
    assert api("lena").get("/jobs", owner=q)["jobs"] == []
    assert "Their title" not in page("lena").get("/jobs/", q=q).html


def test_counts_tell_of_nothing_that_one_may_not_see(theirs: Stage, page: Look) -> None:
    assert page("lena").get("/jobs/").node("n-verify").text == "1"
    assert page("olga").get("/jobs/").node("n-verify").text == ""


def test_a_hidden_job_is_no_parent(theirs: Stage, w1: Caller, stage: Stage) -> None:
    stage.submit("ledger-1", queue="ledger")
    spec = {"queue": "mail", "owner": "customer-1", "steps": ["x"]}
    there = w1.post("/jobs", {"job_id": "child", "spec": spec | {"parent": "ledger-1"}})
    missing = w1.post("/jobs", {"job_id": "child", "spec": spec | {"parent": "none"}})
    assert there.told == missing.told == (409, "parent_missing")
