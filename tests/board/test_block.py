"""Block before start: read back first, then set; judged on the queue and owner of the spec."""

import json
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from runs.models import Job, Receipt, Refusal

from .cast import Browser, Stage, spec

PATH = "/tombstones/new/"


def entered(job: str = "order-7", **given: Any) -> dict[str, Any]:
    return {
        "event_id": "b-1",
        "job_id": job,
        "queue": "mail",
        "owner": "customer-1",
        "steps": "One\nTwo",
    } | given


def confirmed(browser: Browser, **given: Any) -> dict[str, Any]:
    """What is sent after the page has read it back."""
    asked = entered(**given)
    read_back = browser.post(PATH, asked)
    assert read_back.status == 200, read_back.text
    return asked | {
        "digest": read_back.fields["digest"],
        "cause": "user_requested",
        "typed": asked["job_id"][-4:],
    }


def test_first_it_is_read_back_and_nothing_is_done(stage: Stage, omar: Browser) -> None:
    page = omar.post(PATH, entered(steps=" One \n\n Two\n"))
    assert page.status == 200
    assert "Refuse order-7 whenever it arrives?" in page.text
    assert "1. One" in page.text
    assert page.fields["digest"] == spec("One", "Two").digest
    assert page.fields["job_id"] == "order-7", "what was entered is kept"
    assert not Receipt.objects.exists()


def test_then_it_is_blocked_and_its_late_submit_is_refused(stage: Stage, omar: Browser) -> None:
    sent = omar.post(PATH, confirmed(omar))
    assert (sent.status, sent.goes_to) == (302, "/jobs/order-7/")
    stone = Job.objects.get(job_id="order-7")
    assert (stone.admitted, stone.cancel_by, stone.cancel_cause) == (False, "omar", "user_requested")
    late = stage("w1", "order-7", "submit", job_id="order-7", spec=spec("One", "Two"))
    assert late.status == "blocked_cancelled"
    assert "refused once" in omar.get("/tombstones/").node("row-order-7").text


@pytest.mark.parametrize(
    "changed", [{"typed": "xxxx"}, {"typed": ""}, {"cause": ""}, {"cause": "work_finished"}, {"job_id": "-"}]
)
def test_it_takes_the_confirmation(stage: Stage, omar: Browser, changed: dict[str, str]) -> None:
    assert omar.post(PATH, confirmed(omar) | changed).status == 422
    assert not Receipt.objects.exists()


def test_a_change_after_reading_back_is_read_back_again(stage: Stage, omar: Browser) -> None:
    page = omar.post(PATH, confirmed(omar) | {"steps": "One\nThree"})
    assert page.status == 200
    assert page.fields["digest"] == spec("One", "Three").digest
    assert not Receipt.objects.exists()


def test_a_spec_as_json_counts_whole(stage: Stage, omar: Browser) -> None:
    whole = spec({"label": "A", "params": {"to": "x"}}, dispatch="marked").whole
    sent = omar.post(PATH, confirmed(omar, whole=json.dumps(whole), steps=""))
    assert sent.status == 302
    assert Job.objects.get().dispatch == "marked"
    for broken in ("{", "[]", '{"queue": "mail"}', '{"queue":"mail","queue":"mail","steps":["a"]}', "1e9"):
        assert omar.post(PATH, entered(whole=broken)).status == 422, broken


def test_a_person_without_the_right_sees_why_and_who(stage: Stage) -> None:
    for name in ("sam", "lena", "olga", "aud", "ada"):
        page = stage.browser(name).get(PATH)
        assert page.status == 403, name
        assert not page.root.all("button", "pri")
        assert stage.browser(name).post(PATH, confirmed_by_hand()).status == 403
    assert "1 other here may." in stage.browser("sam").get(PATH).text
    assert "omar may." in stage.browser("aud").get(PATH).text
    assert not Receipt.objects.exists()
    assert Refusal.objects.filter(action="block").count() == 5
    assert "Block a job…" not in stage.browser("lena").get("/tombstones/").text
    assert "Block a job…" in stage.browser("omar").get("/tombstones/").text


def confirmed_by_hand() -> dict[str, Any]:
    digest = spec("One", "Two").digest
    return entered(digest=digest, cause="user_requested", typed="er-7")


def test_the_right_ends_at_its_queue(stage: Stage, omar: Browser) -> None:
    for fragment in (False, True):
        page = omar.post(PATH, entered(queue="ledger"), fragment=fragment)
        assert page.status == 403
        assert "You have no right to do this here." in page.text
    assert Refusal.objects.get(action="block", job_id="order-7").count == 2


def test_an_id_that_is_taken(stage: Stage, omar: Browser) -> None:
    stage.submit("order-7", "Other")
    page = omar.post(PATH, confirmed(omar))
    assert page.status == 409
    assert "The job has another list of steps than this page showed." in page.text
    assert page.fields["event_id"] != "b-1"


def test_a_job_that_arrived_meanwhile_is_cancelled_by_who_may_cancel(stage: Stage, omar: Browser) -> None:
    asked = confirmed(omar)
    stage.submit("order-7", "One", "Two")
    assert omar.post(PATH, asked).status == 302
    assert Job.objects.get().control == "acknowledged"
    assert "The job had arrived already." in omar.get("/jobs/order-7/").text


def test_too_many_in_an_hour(stage: Stage, omar: Browser, settings: Settings) -> None:
    settings.CANCELBOARD_TOMBSTONES_PER_HOUR = 1
    assert omar.post(PATH, confirmed(omar)).status == 302
    page = omar.post(PATH, confirmed(omar, job="order-8", event_id="b-2"))
    assert page.status == 429
    assert "More than 1 tombstones in an hour by this principal." in page.text
    assert page.fields["job_id"] == "order-8"
