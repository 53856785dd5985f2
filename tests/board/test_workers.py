"""Workers: who holds what, and whether a stop has reached it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from runs.models import Drill, Job

from .cast import Browser, Stage
from .pages import Page

PATH = "/workers/"


def rows(page: Page) -> list[str]:
    return [css_id.removeprefix("row-") for css_id in page.root.ids if css_id.startswith("row-")]


def test_who_holds_what(stage: Stage, lena: Browser) -> None:
    assert "No worker holds an open job that you may see." in lena.get(PATH).text
    stage.begin("order-1")
    stage("system", "order-1", "heartbeat")
    row = lena.get(PATH).node("row-order-1")
    assert row.text.startswith("worker-1 claim 1 Send welcome mail")
    assert "Lease live" in row.text
    assert "left" in row.text
    assert "nothing to hear" in row.text
    assert row.links["worker-1"] == "/workers/?worker=worker-1"


def test_a_stop_that_was_offered_and_one_that_was_heard(stage: Stage, lena: Browser) -> None:
    stage.begin("order-1")
    stage.cancel("order-1")
    assert "Stop Not offered yet" in lena.get(PATH).node("row-order-1").text
    signal = stage("system", "order-1", "heartbeat").fields["signal"]
    assert "Stop Offered by heartbeat" in lena.get(PATH).node("row-order-1").text
    stage("system", "order-1", "heartbeat", heard=signal["seq"])
    assert "Stop Heard" in lena.get(PATH).node("row-order-1").text


def test_a_pause_is_heard_and_does_not_pass_for_a_stop(stage: Stage, lena: Browser) -> None:
    stage.begin("order-1")
    stage("system", "order-1", "pause", cause="paused_by_user")
    signal = stage("system", "order-1", "heartbeat").fields["signal"]
    stage("system", "order-1", "heartbeat", heard=signal["seq"])
    assert "Pause Heard" in lena.get(PATH).node("row-order-1").text
    stage.cancel("order-1")
    assert "Stop Not offered yet" in lena.get(PATH).node("row-order-1").text


def test_a_lease_that_ended_is_said_and_found(stage: Stage, lena: Browser) -> None:
    stage.begin("gone")
    stage.begin("here")
    Job.objects.filter(job_id="gone").update(lease_expires_at=timezone.now() - timedelta(minutes=7))
    page = lena.get(PATH)
    assert "Lease ended ended 7 min ago" in page.node("row-gone").text
    assert rows(lena.get(PATH, lease="ended")) == ["gone"]
    assert rows(lena.get(PATH, lease="live")) == ["here"]


def test_what_is_over_is_not_listed(stage: Stage, lena: Browser) -> None:
    stage.begin("done", "One mail")
    stage.report("done", 0, "ok")
    stage.begin("stopped")
    stage.cancel("stopped")
    stage.report("stopped", 0, "ok")
    stage.begin("revoked")
    stage("system", "revoked", "revoke", cause="operator_requested")
    assert rows(lena.get(PATH)) == []


@pytest.mark.parametrize(
    ("query", "seen"),
    [
        ({"worker": "worker-1"}, ["theirs", "mine"]),
        ({"worker": "worker-2"}, []),
        ({"queue": "ledger"}, ["theirs"]),
        ({"lease": "other"}, []),
        ({"worker": "a\0b"}, []),
    ],
)
def test_filters(stage: Stage, lena: Browser, query: dict[str, str], seen: list[str]) -> None:
    stage.begin("mine")
    stage.begin("theirs", queue="ledger", owner="customer-2")
    assert rows(lena.get(PATH, **query)) == seen


def test_only_what_one_may_see(stage: Stage) -> None:
    stage.begin("mine")
    stage.begin("theirs", owner="customer-2")
    assert rows(stage.browser("olga").get(PATH)) == ["mine"]
    assert rows(stage.browser("ada").get(PATH)) == []
    assert not stage.browser("olga").get(PATH).has("drills")


def test_pages(stage: Stage, lena: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.queries.workers.PAGE", 2)
    for n in range(3):
        stage.begin(f"order-{n}")
    first = lena.get(PATH, lease="live")
    second = lena.get(first.root.links["Next page"])
    assert rows(first) + rows(second) == ["order-2", "order-1", "order-0"]
    assert lena.get(PATH, cursor="mine").status == 422


def test_the_last_drill_of_each_account(stage: Stage, lena: Browser) -> None:
    assert "w1 Never drilled" in lena.get(PATH).node("drills").text
    now = timezone.now()
    told = (
        ({}, "No socket: hears by heartbeat only"),
        ({"sent_at": now}, "Did not hear"),
        ({"sent_at": now, "heard_at": now + timedelta(milliseconds=12)}, "Heard after 12 ms"),
    )
    for n, (times, words) in enumerate(told):
        at = now + timedelta(seconds=n)
        Drill.objects.create(
            tenant=stage.tenant, user=stage.people["w1"], drill_id=str(n), asked_at=at, **times
        )
        assert f"w1 {words}" in lena.get(PATH).node("drills").text
