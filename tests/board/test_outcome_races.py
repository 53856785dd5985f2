"""Record outcome, where somebody else was faster, sends twice, or must not yet."""

from typing import Any

import pytest
from django.utils import timezone

from runs.models import Receipt

from .cast import Browser, Stage
from .test_outcome import PATH, SAW, seen


@pytest.fixture
def job(stage: Stage) -> str:
    return stage.unknown("order-1")


def receipts(kind: str) -> list[str]:
    return list(Receipt.objects.filter(kind=kind).order_by("pk").values_list("status", flat=True))


def test_the_same_form_sent_twice_is_one_receipt(stage: Stage, sam: Browser, job: str) -> None:
    filled = sam.fill(PATH, **seen())
    for fragment, status in ((False, 302), (False, 302), (True, 204)):
        page = sam.post(PATH, filled, fragment=fragment)
        assert (page.status, page.goes_to) == (status, "/jobs/order-1/")
    assert receipts("reconcile") == ["settled"]
    assert "delivered 3 times, last " in sam.get("/jobs/order-1/").text
    assert stage.row(job).disputed == 0


def test_the_same_observation_sent_twice_is_one_receipt(sam: Browser, job: str) -> None:
    filled = sam.fill(PATH, **seen(outcome="open", kind="ambiguous"))
    assert [sam.post(PATH, filled).status for _ in range(2)] == [302, 302]
    assert receipts("observe") == ["observed"]


def test_other_content_under_the_same_id_is_not_recorded_and_kept_on_screen(sam: Browser, job: str) -> None:
    filled = sam.fill(PATH, **seen(outcome="open", kind="ambiguous"))
    assert sam.post(PATH, filled).status == 302
    page = sam.post(PATH, filled | {"saw": "Something quite different from before."}, fragment=True)
    assert page.status == 409
    assert "This form was sent before with other content, and that stands." in page.text
    assert page.fields["saw"] == "Something quite different from before."
    assert receipts("observe") == ["observed"]
    assert sam.post(PATH, page.fields).status == 302, "under an id of its own it is recorded"
    assert receipts("observe") == ["observed", "observed"]


def test_somebody_else_settled_it_meanwhile(stage: Stage, sam: Browser, lena: Browser, job: str) -> None:
    """The first sending writes nothing, so nobody disputes by accident; the second is meant."""
    filled = sam.fill(PATH, **seen(outcome="rejected", kind="receiver_refused"))
    assert lena.send(PATH, **seen()).status == 302
    for fragment in (False, True):
        page = sam.post(PATH, filled, fragment=fragment)
        assert page.status == 409
        assert "while you looked. Nothing was recorded." in page.text
        assert (page.fields["saw"], page.fields["outcome"]) == (" ".join(SAW.split()), "rejected")
        assert page.fields["kind"] == "receiver_refused"
    assert receipts("reconcile") == ["settled"]
    assert stage.row(job).disputed == 0

    meant = sam.post(PATH, page.fields)
    assert meant.status == 409
    assert "If yours differs, the step is now marked as disputed. Your text is kept." in meant.text
    assert meant.fields["saw"] == " ".join(SAW.split())
    assert receipts("reconcile") == ["settled", "already_settled"]
    assert stage.row(job).disputed == 1
    assert "Disputed: reports differ" in sam.get("/jobs/order-1/").text


def test_late_word_of_the_worker_is_to_be_read_first(stage: Stage, sam: Browser) -> None:
    job = stage.begin("order-1")
    stage("lena", job, "revoke", cause="operator_requested")
    filled = sam.fill(PATH, **seen())
    stage.report(job, 0, "rejected", value="550")
    page = sam.post(PATH, filled)
    assert page.status == 409
    assert receipts("reconcile") == []
    assert sam.post(PATH, page.fields | seen()).status == 302
    assert receipts("reconcile") == ["settled"]


def test_a_remembered_refusal_does_not_stick_to_what_is_sent_next(
    stage: Stage, sam: Browser, lena: Browser
) -> None:
    job = stage.begin("order-1")
    stage.cancel(job)
    looked_at = f"{timezone.now():%Y-%m-%dT%H:%M}"  # the page gave no form: its worker holds the step
    page = sam.post(PATH, seen(event_id="b-1", where="console", looked_at=looked_at))
    assert page.status == 409
    assert "Its worker still holds this step." in page.text
    lena.send("/jobs/order-1/revoke/", cause="operator_requested")
    assert sam.post(PATH, page.fields | {"version": ""}).status == 302
    assert receipts("reconcile") == ["still_claimed", "settled"]


def test_while_its_worker_holds_it_the_page_says_why_and_what_would_help(stage: Stage, sam: Browser) -> None:
    stage.begin("order-1")
    page = sam.get(PATH)
    assert page.status == 200
    assert "saw" not in page.fields
    assert (
        "Its worker still holds this step. Revoke the claim first, or wait for the lease to end." in page.text
    )
    assert page.root.links["Revoke the claim"] == "/jobs/order-1/revoke/"


class TestTwoPeople:
    @pytest.fixture
    def book(self, stage: Stage) -> str:
        return stage.unknown("book-1", queue="books")

    PATH = "/jobs/book-1/steps/0/outcome/"

    def entered(self, browser: Browser, **fields: Any) -> None:
        assert browser.send(self.PATH, **seen(**fields)).status == 302

    def test_an_entry_waits_for_the_second_person(self, stage: Stage, lena: Browser, book: str) -> None:
        assert lena.get(self.PATH).text.count("In this queue a second person approves every outcome.") == 1
        assert "After a second person approves, the job will read" in lena.get(self.PATH).text
        assert "Send for approval" in lena.get(self.PATH).text
        self.entered(lena)
        page = lena.get("/jobs/book-1/")
        assert "It happened. Waiting for a second person." in page.text
        assert "Awaiting second person" in page.node("step-1").text
        assert "lena entered an outcome; it waits for a second person." in page.text
        assert stage.row(book).cur == "unknown"

    def test_nothing_else_is_recorded_meanwhile(self, stage: Stage, lena: Browser, book: str) -> None:
        filled = lena.fill(self.PATH, **seen())
        self.entered(lena)
        assert "An outcome is waiting for a second person." in lena.get(self.PATH).text
        assert "saw" not in lena.get(self.PATH).fields
        page = lena.post(self.PATH, filled | {"event_id": "b-other"})
        assert page.status == 409
        assert "An outcome is waiting for a second person." in page.text
        assert page.fields["saw"] == " ".join(SAW.split())
        assert receipts("reconcile") == ["proposed", "waiting"]

    def test_only_did_not_happen_needs_two(self, stage: Stage, lena: Browser) -> None:
        stage.unknown("shop-1", queue="shop")
        path = "/jobs/shop-1/steps/0/outcome/"
        text = lena.get(path).text
        assert "In this queue a second person approves “did not happen”." in text
        assert "Record outcome" in text
        assert lena.send(path, **seen(outcome="rejected", kind="receiver_sealed")).status == 302
        assert receipts("reconcile") == ["proposed"]

    def test_an_entry_that_was_overtaken_no_longer_waits(self, stage: Stage, lena: Browser) -> None:
        job = stage.begin("book-1", queue="books")
        stage("lena", job, "revoke", cause="operator_requested")
        self.entered(lena)
        stage.report(job, 0, "ok", value="7")  # late word: the step is not as it was when it was entered
        page = lena.get("/jobs/book-1/")
        assert "waits for a second person" not in page.text
        assert "Record outcome of step 1…" in page.text

    def test_approved_by_a_second_person_is_drawn_double(
        self, stage: Stage, lena: Browser, book: str
    ) -> None:
        self.entered(lena)
        proposal = Receipt.objects.get(kind="reconcile").detail.split('"proposal":"')[1].split('"')[0]
        assert stage("system", book, "approve", proposal=proposal).status == "settled"
        step = lena.get("/jobs/book-1/").node("step-1")
        assert step.all("span", "double")[0].text == "Happened"
        assert "Entry for step 1 approved: it happened" in lena.get("/jobs/book-1/").text


def test_a_disputed_step_that_is_next_can_be_settled(stage: Stage, sam: Browser) -> None:
    job = stage.begin("order-1", dispatch="marked")
    stage("lena", job, "revoke", cause="operator_requested")
    stage.report(job, 0, "ok", value="it was sent after all")
    page = sam.get("/jobs/order-1/")
    assert "Record outcome of step 1…" in page.text
    assert "says: it happened, “it was sent after all”" in page.node("step-1").text
    assert sam.send(PATH, **seen()).status == 302
    assert stage.row(job).position == 1
