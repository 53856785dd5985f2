"""Disputed: which jobs stand there, what each source said, and who may close it."""

import pytest

from .cast import CONFIRMED, REFUSED, Browser, Stage
from .pages import Page

PATH = "/disputed/"


def rows(page: Page) -> list[str]:
    return [css_id.removeprefix("row-") for css_id in page.root.ids if css_id.startswith("row-")]


def dispute(stage: Stage, job: str, **given: str) -> str:
    """Settled by lena as not happened; then its worker, who had lost the claim, says that it happened."""
    stage.begin(job, **given)
    stage("system", job, "revoke", cause="operator_requested")
    answer = stage("lena", job, "reconcile", ordinal=0, outcome="rejected", evidence=REFUSED)
    assert answer.status == "settled"
    assert stage.report(job, 0, "ok", value="250 queued").status == "already_settled"
    assert stage.row(job).disputed
    return job


def doubt(stage: Stage, job: str) -> str:
    """Testimony first, then the contrary: the lost claim's word is called just that."""
    stage.begin(job)
    stage("system", job, "revoke", cause="operator_requested")
    assert stage.report(job, 0, "ok", value="mail-7").status == "fenced"
    stage("lena", job, "reconcile", ordinal=0, outcome="rejected", evidence=REFUSED)
    return job


def no_mark(stage: Stage, job: str) -> str:
    stage.begin(job, dispatch="marked")
    assert stage.report(job, 0, "ok").status == "settled"
    assert stage.row(job).no_mark
    return job


def test_what_stands_and_what_each_said(stage: Stage, lena: Browser) -> None:
    assert "No reports that you may see differ." in lena.get(PATH).text
    dispute(stage, "order-1")
    row = lena.get(PATH).node("row-order-1")
    assert "Step 1: Send welcome mail Disputed: reports differ" in row.text
    assert "Stands: Did not happen recorded by lena" in row.text
    assert "Worker worker-1 says: it happened, “250 queued”" in row.text
    seq = stage.row("order-1").seq
    assert f"/jobs/order-1/#ev-{seq}" in row.links.values()
    assert row.links["Close the dispute E"] == "/jobs/order-1/close_dispute/"


def test_the_word_of_a_lost_claim_is_called_that(stage: Stage, lena: Browser) -> None:
    doubt(stage, "order-1")
    text = lena.get(PATH).node("row-order-1").text
    assert "Worker worker-1, who had lost the claim, says: it happened, “mail-7”" in text


def test_a_closed_dispute_is_gone_and_so_are_its_words_from_the_next(stage: Stage, lena: Browser) -> None:
    dispute(stage, "order-1")
    stage("sam", "order-1", "close_dispute", ordinal=0, note="The receiver's word counts.")
    assert rows(lena.get(PATH)) == []
    stage("lena", "order-1", "reconcile", ordinal=0, outcome="ok", value="other", evidence=CONFIRMED)
    text = lena.get(PATH).node("row-order-1").text
    assert "lena says: it happened, “other”" in text
    assert "250 queued" not in text


def test_only_the_newest_words_are_in_the_list(stage: Stage, lena: Browser) -> None:
    dispute(stage, "order-1")
    for n in range(5):
        stage.report("order-1", 0, "ok", value=f"word-{n}")
    row = lena.get(PATH).node("row-order-1")
    assert "word-0" in row.text
    assert "250 queued" not in row.text
    assert row.links["Earlier ones on the job's page"] == "/jobs/order-1/#step-1"


def test_a_step_without_its_mark_is_listed_and_nothing_closes_it(stage: Stage, lena: Browser) -> None:
    no_mark(stage, "order-1")
    text = lena.get(PATH).node("row-order-1").text
    assert "Happened without its mark" in text
    assert "Close the dispute" not in text


@pytest.mark.parametrize(
    ("query", "seen"),
    [
        ({}, ["bare", "theirs", "mine"]),
        ({"why": "differ"}, ["theirs", "mine"]),
        ({"why": "no_mark"}, ["bare"]),
        ({"queue": "mail"}, ["bare", "mine"]),
        ({"customer": "customer-2"}, ["theirs"]),
        ({"customer": "nobody"}, []),
        ({"why": "other"}, []),
        ({"queue": "a\0b"}, []),
    ],
)
def test_filters(stage: Stage, lena: Browser, query: dict[str, str], seen: list[str]) -> None:
    dispute(stage, "mine")
    dispute(stage, "theirs", owner="customer-2", queue="ledger")
    no_mark(stage, "bare")
    stage.submit("quiet")
    page = lena.get(PATH, **query)
    assert rows(page) == seen
    if not seen:
        assert page.root.links["Clear filters"] == PATH


def test_only_what_one_may_see_and_close(stage: Stage) -> None:
    dispute(stage, "mine")
    dispute(stage, "theirs", owner="customer-2")
    assert rows(stage.browser("olga").get(PATH)) == ["mine"]
    assert rows(stage.browser("ada").get(PATH)) == []
    assert "Close the dispute" in stage.browser("sam").get(PATH).text
    omar = stage.browser("omar").get(PATH)
    assert rows(omar) == ["theirs", "mine"]
    assert "Close the dispute" not in omar.text
    assert "You may look, not close" in omar.text


def test_pages(stage: Stage, lena: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.queries.disputed.PAGE", 2)
    for n in range(3):
        dispute(stage, f"order-{n}")
    first = lena.get(PATH, queue="mail")
    second = lena.get(first.root.links["Next page"])
    assert rows(first) + rows(second) == ["order-2", "order-1", "order-0"]
    assert second.root.links["First page"] == f"{PATH}?queue=mail"
    assert lena.get(PATH, cursor="mine").status == 422


def test_the_rail_and_the_job_lead_there(stage: Stage, lena: Browser) -> None:
    dispute(stage, "order-1")
    stage.submit("quiet")
    assert lena.get("/verify/").root.links["Disputed"] == PATH
    assert lena.get("/jobs/order-1/").node("facts").links["differ: see all that differ"] == PATH
    assert "differ: see all that differ" not in lena.get("/jobs/quiet/").text
