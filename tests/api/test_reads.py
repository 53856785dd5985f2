"""The smaller reads: preview, causes, queues, can."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from runs.causes import BUILT_IN
from runs.models import Cause, Job, Receipt, Tenant
from runs.permissions import SENTENCES, WAYS

from .cast import Caller, spec

Person = Callable[[str], Caller]


def preview(caller: Caller, job_id: str = "j") -> Any:
    reply = caller.get(f"/jobs/{job_id}/preview", command="cancel")
    assert reply.code == 200
    return reply.body


def test_a_preview_of_a_job_that_waits(app: Caller) -> None:
    app.submit("j", "1", "2", "3")
    told = preview(app)
    assert (told["would"], told["out_now"], told["held"], told["children"], told["worker"]) == (
        "requested",
        None,
        3,
        0,
        None,
    )
    assert told["allowed"] == {"allowed": True, "code": "allowed", "reason": "", "change": ""}
    assert (
        told["sentence"]
        == "Nothing of this job is out, so the stop would be confirmed at once. 3 steps would not start."
    )


def test_a_preview_while_a_step_is_out(app: Caller) -> None:
    app.submit("j", "Pay", "Tell")
    app.post("/jobs/j/reserve", {"claim": app.claim("j", worker="w-3")})
    told = preview(app)
    assert (told["would"], told["out_now"]["label"], told["out_now"]["state"]) == (
        "requested",
        "Pay",
        "inflight",
    )
    assert told["held"] == 1
    assert (told["worker"]["name"], told["worker"]["live"]) == ("w-3", True)
    assert told["sentence"] == "“Pay” is out now and may still happen. 1 step would not start."


def test_a_preview_agrees_with_the_cancel_that_follows(app: Caller) -> None:
    app.submit("open", "1")
    app.submit("done", "1")
    claim = app.claim("done")
    app.post("/jobs/done/reserve", {"claim": claim})
    app.ask("done", "report", claim=claim, ordinal=0, outcome="ok")
    app.ask("blocked", "cancel", spec=spec("1"))
    for job_id, would in (("open", "requested"), ("done", "too_late"), ("blocked", "already_requested")):
        told = preview(app, job_id)
        receipts = Receipt.objects.count()
        assert told["would"] == would
        assert app.ask(job_id, "cancel", spec=spec("1"))["status"] == would
        assert Receipt.objects.count() > receipts


def test_a_preview_changes_nothing_and_says_who_may_not(app: Caller, person: Person) -> None:
    app.submit("j")
    before = list(Job.objects.values())
    for who, code in (("sam", "no_grant"), ("aud", "explicit_deny")):
        allowed = preview(person(who))["allowed"]
        assert (allowed["allowed"], allowed["code"]) == (False, code)
        assert allowed["reason"] == SENTENCES[code]
        assert allowed["change"] == WAYS[code]
    assert list(Job.objects.values()) == before
    assert Receipt.objects.count() == 1


def test_a_preview_names_children_that_go_on(app: Caller) -> None:
    app.submit("j", "1")
    app.submit("k", "1", parent="j")
    told = preview(app)
    assert told["children"] == 1
    assert told["sentence"].endswith("1 child is unfinished and goes on.")


@pytest.mark.parametrize("query", ["", "?command=pause", "?command="])
def test_only_a_cancel_has_a_preview(app: Caller, query: str) -> None:
    app.submit("j")
    reply = app.get(f"/jobs/j/preview{query}")
    assert (reply.told, reply.fields) == ((422, "invalid"), ["command"])


def test_causes(app: Caller, acme: Tenant) -> None:
    Cause.objects.create(tenant=acme, code="stock_empty", short="Out of stock", text="There is none left.")
    Cause.objects.create(tenant=acme, code="goal_met", short="x", text="x", retired_at=timezone.now())
    listed = {cause["code"]: cause for cause in app.get("/causes")["causes"]}
    assert set(listed) == {*BUILT_IN, "stock_empty"}
    assert len(BUILT_IN) == 23
    assert listed["stock_empty"] == {
        "code": "stock_empty",
        "short": "Out of stock",
        "text": "There is none left.",
        "retired": False,
    }
    assert (listed["goal_met"]["short"], listed["goal_met"]["retired"]) == ("Goal met", True)
    app.submit("j")
    assert app.ask("j", "cancel", spec=spec(), cause="goal_met").fields == ["cause"]
    assert app.ask("j", "cancel", spec=spec(), cause="stock_empty").told == (202, "requested")
    assert app.job("j")["cancel"]["cause"]["text"] == "There is none left."


def test_no_cause_promises_a_re_run_or_a_discarded_result() -> None:
    for short, text in BUILT_IN.values():
        said = f"{short} {text}".lower()
        assert not any(
            word in said for word in ("re-run", "rerun", "run again", "retry", "discard", "undone", "rolled")
        )


def test_queues(app: Caller) -> None:
    queues = {queue["name"]: queue for queue in app.get("/queues")["queues"]}
    assert queues["vip"] == {"name": "vip", "id_prefix": "vip-", "reconcile_needs": "1"}
    assert queues["shop"]["reconcile_needs"] == "2 for did-not-happen"


def can(caller: Caller, action: str, **asked: str) -> Any:
    return caller.get("/can", action=action, **asked)


def test_may_i(app: Caller, person: Person) -> None:
    app.submit("j")
    told = can(person("omar"), "cancel", job_id="j").body
    assert (told["allowed"], told["code"], told["who_may"]) == (True, "allowed", None)
    assert [step["check"] for step in told["steps"]][:2] == ["view", "credentials"]
    refused = can(person("aud"), "cancel", job_id="j").body
    assert (refused["allowed"], refused["code"]) == (False, "explicit_deny")
    assert refused["steps"][-1]["result"] == "explicit_deny"


def test_who_may_is_told_to_those_who_manage_grants_or_export(app: Caller, person: Person) -> None:
    app.submit("j", owner="customer-2")
    expected = ["app", "lena", "omar"]
    assert can(person("ada"), "cancel", job_id="j")["who_may"] == expected
    assert can(person("aud"), "cancel", job_id="j")["who_may"] == expected
    assert can(person("sam"), "cancel", job_id="j")["who_may"] is None


def test_about_somebody_else_only_who_manages_grants_may_ask(app: Caller, person: Person) -> None:
    app.submit("j", owner="customer-2")
    ada = person("ada")
    assert can(ada, "cancel", job_id="j", principal="omar")["allowed"] is True
    olga = can(ada, "cancel", job_id="j", principal="olga")
    assert (olga["allowed"], olga["code"]) == (False, "no_grant")
    assert [step["check"] for step in olga["steps"]] == ["view"]
    assert can(person("omar"), "cancel", job_id="j", principal="lena").told == (403, "no_grant")
    assert can(ada, "cancel", job_id="j", principal="nobody").told == (404, "not_found")
    assert ada.get("/jobs/j").code == 404  # the explanation does not show the job


def test_about_a_job_that_one_may_not_see(app: Caller, person: Person) -> None:
    app.submit("j", owner="customer-2")
    olga = person("olga")
    hidden, missing = (can(olga, "cancel", job_id=job_id).response.content for job_id in ("j", "k"))
    assert hidden == missing


def test_on_the_whole_tenant(app: Caller, person: Person) -> None:
    assert can(app, "seal")["allowed"] is True
    assert can(person("omar"), "view")["allowed"] is True
    assert can(person("omar"), "cancel")["allowed"] is False
    assert can(app, "dance").fields == ["action"]
    assert can(app, "").fields == ["action"]
