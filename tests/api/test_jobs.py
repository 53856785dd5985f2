"""One job and lists of them: the shape of docs/http.md, what a filter leaves, and that a page is a page."""

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.utils import timezone

from runs.commands.rows import unfinished_children as one_by_one
from runs.models import Job
from runs.queries import jobs as queries
from runs.queries.children import unfinished_children

from .cast import Caller, spec

Person = Callable[[str], Caller]
KEYS = {
    *("job_id", "tenant", "queue", "owner", "generation", "dispatch", "parent", "spec_digest", "admitted"),
    *("control", "result", "paused_at", "headline", "disputed", "steps", "unsettled", "cancel", "claim"),
    *("children_unfinished", "blocked_submits", "seq", "head_digest", "created_at", "updated_at"),
}
STEP_KEYS = {
    *("ordinal", "label", "tool", "target", "params", "state", "value", "dispatched_at", "settled_by"),
    *("disputed", "testimony"),
}


def ids(reply: Any) -> list[str]:
    return [job["job_id"] for job in reply["jobs"]]


def test_a_fresh_job(app: Caller) -> None:
    step = {"label": "Send", "tool": "smtp/2", "target": "ada@example.test", "params": {"n": 1, "ü": ["x"]}}
    reply = app.submit("order-7@20261129", step, dispatch="marked")
    job = app.job("order-7@20261129")
    assert set(job) == KEYS
    assert set(job["steps"][0]) == STEP_KEYS
    assert (job["tenant"], job["queue"], job["owner"], job["generation"]) == (
        "acme",
        "mail",
        "customer-1",
        20261129,
    )
    assert (job["dispatch"], job["parent"], job["spec_digest"]) == ("marked", None, reply["spec_digest"])
    assert (job["admitted"], job["control"], job["result"], job["headline"]) == (True, "run", "open", "ready")
    assert {key: job["steps"][0][key] for key in step} == step
    assert (job["seq"], job["head_digest"]) == (1, reply["receipt"]["digest"])
    assert job["created_at"] == job["updated_at"] == reply["receipt"]["at"]
    nothing = ("paused_at", "unsettled", "cancel", "claim")
    assert [job[name] for name in nothing] == [None] * 4


def test_a_job_in_the_middle_of_it(app: Caller) -> None:
    app.submit("j", "Send it", dispatch="marked")
    claim = app.claim("j", worker="worker-7", ttl_seconds=60)
    app.post("/jobs/j/reserve", {"claim": claim, "attempt": "a"})
    app.post("/jobs/j/dispatch", {"claim": claim, "ordinal": 0, "attempt": "a"})
    digest = app.job("j")["spec_digest"]
    app.ask(
        "j",
        "cancel",
        spec_digest=digest,
        cause="goal_met",
        note="enough",
        asked_by="customer-1",
        grace_seconds=30,
    )
    job = app.job("j")
    assert (job["headline"], job["unsettled"], job["steps"][0]["state"]) == ("verifying", 0, "inflight")
    assert job["steps"][0]["dispatched_at"]
    assert (job["claim"]["worker"], job["claim"]["fence"], job["claim"]["live"]) == ("worker-7", 1, True)
    cancel = job["cancel"]
    assert (cancel["cause"]["code"], cancel["note"], cancel["asked_by"]) == (
        "goal_met",
        "enough",
        "customer-1",
    )
    assert (cancel["by"], cancel["heard_at"], cancel["too_late"]) == ("app", None, False)
    signal = app.post("/jobs/j/heartbeat", {"claim": claim})["signal"]
    assert (signal["level"], signal["cause"]["short"]) == ("stop", "Goal met")
    app.post("/jobs/j/heartbeat", {"claim": claim, "heard": signal["seq"]})
    assert app.job("j")["cancel"]["heard_at"]


def test_a_claim_is_never_shown_again(app: Caller) -> None:
    app.submit("j")
    claim = app.claim("j")
    secret = claim.partition("-")[2]
    for path in ("/jobs/j", "/jobs", "/jobs/j/receipts", "/jobs/j/preview?command=cancel"):
        assert secret not in app.get(path).response.content.decode()


def test_a_lease_that_has_ended_is_not_live(app: Caller) -> None:
    app.submit("j")
    app.claim("j")
    Job.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert app.job("j")["claim"]["live"] is False


def test_testimony_stands_beside_the_step(app: Caller, person: Person) -> None:
    app.submit("j", "Send it")
    old = app.claim("j", worker="worker-1")
    app.post("/jobs/j/reserve", {"claim": old})
    app.ask("j", "revoke")
    late = app.ask("j", "report", claim=old, ordinal=0, outcome="ok", value="7f")
    assert late.told == (409, "fenced")
    said = app.job("j")["steps"][0]["testimony"]
    assert said == [
        {
            "seq": late["receipt"]["seq"],
            "worker": "worker-1",
            "fence": 1,
            "outcome": "ok",
            "value": "7f",
            "at": late["receipt"]["at"],
        }
    ]
    refused = {"kind": "receiver_refused", "text": "550"}
    person("lena").ask("j", "reconcile", ordinal=0, outcome="rejected", evidence=refused)
    assert app.job("j")["disputed"]
    assert ids(app.get("/jobs", disputed="true")) == ["j"]
    person("lena").ask("j", "close_dispute", ordinal=0)
    assert not app.job("j")["disputed"]
    assert app.job("j")["steps"][0]["testimony"] == said  # the record stays
    assert ids(app.get("/jobs", disputed="true")) == []


def test_testimony_weighs_after_a_cancel_as_before(app: Caller, person: Person) -> None:
    app.submit("j", "Send it")
    old = app.claim("j")
    app.post("/jobs/j/reserve", {"claim": old})
    app.ask("j", "revoke")
    app.ask("j", "cancel", spec=spec("Send it"))
    app.ask(
        "j",
        "report",
        claim=old,
        ordinal=0,
        outcome="rejected",
        evidence={"kind": "worker_refused", "text": "no"},
    )
    confirmed = {"kind": "receiver_confirmed", "text": "250"}
    settled = person("lena").ask("j", "reconcile", ordinal=0, outcome="ok", evidence=confirmed)
    assert settled.told == (200, "settled")
    job = app.job("j")
    assert (job["disputed"], len(job["steps"][0]["testimony"])) == (True, 1)


def test_an_effect_without_its_mark_is_listed_with_the_disputed(app: Caller) -> None:
    app.submit("j", "Send it", dispatch="marked")
    claim = app.claim("j")
    app.post("/jobs/j/reserve", {"claim": claim})
    app.ask("j", "report", claim=claim, ordinal=0, outcome="ok")
    assert ids(app.get("/jobs", disputed="true")) == ["j"]
    assert ids(app.get("/jobs", disputed="false")) == []


@pytest.fixture
def several(app: Caller) -> Caller:
    """From old to new: a waits, b is out, c is cancelled, d was blocked, e is done."""
    app.submit("a", "Alpha", owner="customer-1")
    app.submit("b", "Beta", owner="customer-2", queue="ledger")
    app.post("/jobs/b/reserve", {"claim": app.claim("b")})
    app.submit("c", "Gamma")
    app.ask("c", "cancel", spec=spec("Gamma"))
    app.ask("d", "cancel", spec=spec("Delta"))
    app.submit("e", "Epsilon")
    claim = app.claim("e")
    app.post("/jobs/e/reserve", {"claim": claim})
    app.ask("e", "report", claim=claim, ordinal=0, outcome="ok")
    return app


FILTERS = {
    "": "edcba",
    "queue=ledger": "b",
    "queue=nowhere": "",
    "control=run": "eba",
    "control=acknowledged": "dc",
    "result=succeeded": "e",
    "unsettled=true": "b",
    "unsettled=false": "edca",
    "headline=ready": "a",
    "headline=working": "b",
    "headline=stopped": "c",
    "headline=blocked_before_start": "d",
    "headline=completed": "e",
    "owner=customer-2": "b",
    "q=gam": "c",
    "q=customer-2": "b",
    "q=E": "e",
    "q=%25": "",
    "q=_": "",
    "control=run&result=open&queue=mail": "a",
    "queue=&control=&result=&unsettled=&disputed=&headline=&owner=&q=&cursor=&limit=": "edcba",
}


@pytest.mark.parametrize(("query", "expected"), FILTERS.items())
def test_a_filter_leaves_what_it_says(several: Caller, query: str, expected: str) -> None:
    assert ids(several.get(f"/jobs?{query}")) == list(expected)


def test_a_list_holds_what_each_may_see(several: Caller, w1: Caller, person: Person) -> None:
    assert ids(w1.get("/jobs")) == ["e", "d", "c", "a"]
    assert ids(person("olga").get("/jobs")) == ["e", "d", "c", "a"]
    assert ids(person("sam").get("/jobs")) == ["e", "d", "c", "b", "a"]
    assert ids(person("ada").get("/jobs")) == []


def test_pages_hold_every_job_once(app: Caller) -> None:
    for n in range(7):
        app.submit(f"j{n}")
    Job.objects.filter(job_id__in=["j1", "j2", "j3"]).update(
        created_at=Job.objects.get(job_id="j3").created_at
    )
    seen: list[str] = []
    cursor: Any = ""
    pages = 0
    while cursor is not None:
        page = app.get("/jobs", limit="2", cursor=cursor)
        cursor, pages = page["next_cursor"], pages + 1
        seen += ids(page)
        if pages == 1:
            app.submit("newer")  # what comes meanwhile moves no page
    assert pages == 4
    assert seen == [f"j{n}" for n in (6, 5, 4, 3, 2, 1, 0)]


def test_a_page_that_ends_at_the_last_job_has_no_next(app: Caller) -> None:
    app.submit("a")
    app.submit("b")
    assert app.get("/jobs", limit="2")["next_cursor"] is None


def test_a_page_is_cut_where_its_steps_are_too_many(app: Caller, monkeypatch: Any) -> None:
    monkeypatch.setattr(queries, "MAX_STEPS", 4)
    for job_id in ("a", "b", "c"):
        app.submit(job_id, "1", "2")
    app.submit("big", *"123456")
    pages = [app.get("/jobs")]
    while cursor := pages[-1]["next_cursor"]:
        pages.append(app.get("/jobs", cursor=cursor))
    assert [ids(page) for page in pages] == [["big"], ["c", "b"], ["a"]]


def test_a_list_costs_no_more_statements_than_a_job(
    several: Caller, django_assert_num_queries: Any, django_assert_max_num_queries: Any
) -> None:
    # Who is calling, the clock (PostgreSQL's), the job, its steps.
    with django_assert_max_num_queries(4) as few:
        several.get("/jobs/a")
    statements = len(few)
    for n in range(20):
        several.submit(f"j{n}")
        several.ask(f"j{n}", "cancel", spec=spec())
    with django_assert_num_queries(statements):
        several.get("/jobs")


def test_the_newest_page_of_a_full_hand_of_jobs(app: Caller) -> None:
    for n in range(51):
        app.submit(f"j{n}")
    page = app.get("/jobs")
    assert len(page["jobs"]) == 50
    assert len(app.get("/jobs", limit="200")["jobs"]) == 51
    times = [job["created_at"] for job in page["jobs"]]
    assert all(newer >= older for newer, older in pairwise(times))


def test_children_that_are_unfinished(app: Caller) -> None:
    app.submit("top")
    for child, parent in (("a", "top"), ("b", "top"), ("a1", "a"), ("a2", "a1"), ("alone", None)):
        app.submit(child, parent=parent)
    app.submit("done", "1", parent="top")
    app.submit("below", parent="done")
    claim = app.claim("done")
    app.post("/jobs/done/reserve", {"claim": claim})
    app.ask("done", "report", claim=claim, ordinal=0, outcome="ok")  # itself, but not what is below it
    app.ask("a", "cancel", spec=spec(parent="top"))
    assert app.job("a")["headline"] == "stopping"  # its own child runs on
    counts = {job["job_id"]: job["children_unfinished"] for job in app.get("/jobs")["jobs"]}
    assert counts == {"top": 3, "a": 1, "a1": 1, "a2": 0, "b": 0, "done": 1, "below": 0, "alone": 0}
    app.ask("a2", "cancel", spec=spec(parent="a1"))
    app.ask("a1", "cancel", spec=spec(parent="a"))
    assert app.job("a")["headline"] == "stopped"
    app.ask("below", "cancel", spec=spec(parent="done"))
    assert app.job("top")["children_unfinished"] == 1  # b
    rows = list(Job.objects.all())
    at_once = unfinished_children(rows)
    assert [at_once.get(row.pk, 0) for row in rows] == [one_by_one(row) for row in rows]
