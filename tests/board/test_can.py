"""Who may what: the page shows the decision of docs/permissions.md, and no more than its reader may know."""

import pytest

from runs.models import Refusal
from runs.permissions import Action

from .cast import Browser, Stage


@pytest.fixture
def job(stage: Stage) -> str:
    return stage.begin("order-1")


def test_why_not(stage: Stage, sam: Browser, job: str) -> None:
    page = sam.get("/can/", action="cancel", job_id=job)
    assert page.status == 200
    assert "sam may not request a cancel here. You have no right to do this here." in page.text
    assert "A grant on this job, its owner, its queue or the tenant would change that." in page.text
    assert "3 others here may." in page.text
    assert "lena" not in page.text
    assert "no_grant" in page.text


def test_why(stage: Stage, lena: Browser, job: str) -> None:
    page = lena.get("/can/", action="cancel", job_id=job)
    assert "lena may request a cancel here." in page.text
    assert page.text.count(" yes") == 7


def test_who_is_for_those_who_manage_grants_or_export(stage: Stage, job: str) -> None:
    for name in ("ada", "aud"):
        page = stage.browser(name).get("/can/", action="cancel", job_id=job)
        assert "Who may: lena, olga, omar" in page.text, name


def test_others_are_asked_about_only_by_who_manages_grants(stage: Stage, job: str) -> None:
    asked = {"action": "cancel", "job_id": job, "principal": "sam"}
    page = stage.browser("ada").get("/can/", **asked)
    assert "sam may not request a cancel here." in page.text
    assert "Asked for" in page.text
    for name in ("lena", "aud"):
        browser = stage.browser(name)
        assert browser.get("/can/", **asked).status == 403, name
        assert "Asked for" not in browser.get("/can/").text
    assert Refusal.objects.filter(action="manage_grants").count() == 2


def test_what_if(stage: Stage, job: str) -> None:
    ada, asked = stage.browser("ada"), {"action": "cancel", "job_id": job, "principal": "sam"}
    assert "Then sam might request a cancel here" in ada.get("/can/", what_if="allow job", **asked).text
    assert "Then sam might" in ada.get("/can/", what_if="allow tenant", **asked).text
    asked["principal"] = "lena"
    assert "Even then lena may not" in ada.get("/can/", what_if="deny tenant", **asked).text
    assert stage.browser("lena").get("/can/", action="cancel", what_if="allow tenant").status == 403


def test_it_shows_nothing_of_the_job(stage: Stage, job: str) -> None:
    page = stage.browser("ada").get("/can/", action="view", job_id=job, principal="sam")
    for word in ("Send welcome mail", "customer-1", "mail-"):
        assert word not in page.text


def test_what_one_may_not_see_is_not_there(stage: Stage, job: str) -> None:
    olga = stage.browser("olga")
    stage.submit("theirs", owner="customer-2")
    one, other = (olga.get("/can/", action="view", job_id=j) for j in ("theirs", "absent"))
    assert one.status == other.status == 404
    assert olga.get("/can/", action="view", job_id="a\0b").status == 404
    assert olga.get("/can/", action="nonsense").status == 200
    for action in Action:
        assert stage.browser("sam").get("/can/", action=action, job_id=job).status == 200


def test_beside_every_refused_action_is_the_reason_who_may_and_the_way(stage: Stage, job: str) -> None:
    page = stage.browser("sam").get(f"/jobs/{job}/")
    cannot = page.node("next").text
    assert "Request cancel" in cannot
    assert "You have no right to do this here." in cannot
    assert "would change that. 3 others here may." in cannot
    ways = page.node("next").links
    assert "/can/?action=cancel&job_id=order-1" in [node["href"] for node in page.node("next").all("a")]
    assert "Why, and who may" in ways
    assert "lena and 2 others may." in stage.browser("aud").get(f"/jobs/{job}/").node("next").text


def test_the_preview_says_why_not_and_what_would_change_it(stage: Stage, sam: Browser, job: str) -> None:
    allowed = sam.client.get(f"/api/v1/jobs/{job}/preview?command=cancel").json()["allowed"]
    assert allowed == {
        "allowed": False,
        "code": "no_grant",
        "reason": "You have no right to do this here.",
        "change": "A grant on this job, its owner, its queue or the tenant would change that.",
    }


def test_the_grant_that_decided_is_named_to_who_may_know_it(stage: Stage, job: str) -> None:
    asked = {"action": "cancel", "job_id": job, "principal": "aud"}
    assert "deny cancel tenant, held by aud" in stage.browser("ada").get("/can/", **asked).text
    mine = {"action": "cancel", "job_id": job}
    assert "deny cancel tenant, held by aud" in stage.browser("aud").get("/can/", **mine).text
    assert "held by" not in stage.browser("lena").get("/can/", **mine).text
    told = [stage.browser(name).client.get("/api/v1/can", mine).json()["grant"] for name in ("aud", "lena")]
    assert (told[0]["says"], told[0]["holder"], told[1]) == ("deny cancel tenant", "aud", None)
    supposed = stage.browser("ada").get("/can/", action="cancel", principal="w1", what_if="allow tenant").text
    assert "Then w1 might" in supposed
    assert "held by" not in supposed, "it is only supposed"
