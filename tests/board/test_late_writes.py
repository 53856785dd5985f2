"""Refused late writes: what came under a lost claim is kept, shown, and settles nothing."""

import pytest

from .cast import CONFIRMED, Browser, Stage
from .pages import Page

PATH = "/late/"


def rows(page: Page) -> list[str]:
    return [css_id.removeprefix("row-") for css_id in page.root.ids if css_id.startswith("row-")]


def late(stage: Stage, job: str, **given: str) -> str:
    """Its worker lost the claim while the step was out, and reports all the same."""
    stage.begin(job, **given)
    stage("system", job, "revoke", cause="operator_requested")
    assert stage.report(job, 0, "ok", value="250 queued").status == "fenced"
    return f"{job}-{stage.row(job).seq}"


def never(stage: Stage, job: str) -> str:
    """A token that was never given out for this job."""
    token = "9-" + "0" * 32
    assert stage.report(job, 0, "ok", claim=token).status == "claim_lost"
    return f"{job}-{stage.row(job).seq}"


def test_what_was_said_and_what_the_step_is_now(stage: Stage, lena: Browser) -> None:
    assert "No worker has reported under a lost claim, as far as you may see." in lena.get(PATH).text
    row = late(stage, "order-1")
    shown = lena.get(PATH).node(f"row-{row}")
    assert "Worker worker-1, who had lost the claim, says: it happened, “250 queued”" in shown.text
    assert "kept as testimony" in shown.text
    assert "Unknown Step 1: Send welcome mail" in shown.text, "it settled nothing"
    assert f"/jobs/order-1/#ev-{stage.row('order-1').seq}" in shown.links.values()
    stage("lena", "order-1", "reconcile", ordinal=0, outcome="ok", value="250 queued", evidence=CONFIRMED)
    assert "Happened Step 1" in lena.get(PATH).node(f"row-{row}").text


def test_a_claim_that_never_was_and_a_step_given_back_too_late(stage: Stage, lena: Browser) -> None:
    stage.begin("order-1", dispatch="marked")
    row = never(stage, "order-1")
    text = lena.get(PATH).node(f"row-{row}").text
    assert "refused: not a claim of this job any more" in text
    stage("system", "order-1", "revoke", cause="operator_requested")
    stage("system", "order-1", "release", ordinal=0)
    text = lena.get(PATH).node(f"row-order-1-{stage.row('order-1').seq}").text
    assert "Worker worker-1, who had lost the claim, gave the step back unsent" in text


def test_filters(stage: Stage, lena: Browser) -> None:
    mine = late(stage, "mine")
    theirs = late(stage, "theirs", owner="customer-2", queue="ledger")
    lost = never(stage, "mine")
    for query, seen in (
        ({}, [lost, theirs, mine]),
        ({"what": "fenced"}, [theirs, mine]),
        ({"what": "claim_lost"}, [lost]),
        ({"queue": "ledger"}, [theirs]),
        ({"customer": "customer-1"}, [lost, mine]),
        ({"job": "mine", "what": "fenced"}, [mine]),
        ({"since": "2000-01-01"}, [lost, theirs, mine]),
        ({"until": "2000-01-01"}, []),
        ({"what": "other"}, []),
        ({"job": "a\0b"}, []),
    ):
        assert rows(lena.get(PATH, **query)) == seen, query
    assert lena.get(PATH, since="yesterday").status == 404


def test_only_what_one_may_see(stage: Stage) -> None:
    mine, theirs = late(stage, "mine"), late(stage, "theirs", owner="customer-2")
    stage("system", "nobody", "report", ordinal=0, outcome="ok", claim="1-" + "0" * 32)
    for name, seen in (("lena", [theirs, mine]), ("olga", [mine]), ("ada", [])):
        assert rows(stage.browser(name).get(PATH)) == seen, name


def test_pages_hold_every_write_once_whatever_its_kind(
    stage: Stage, lena: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.queries.late_writes.PAGE", 2)
    made = [late(stage, "order-0"), never(stage, "order-0"), late(stage, "order-1"), never(stage, "order-1")]
    first = lena.get(PATH, queue="mail")
    second = lena.get(first.root.links["Next page"])
    assert rows(first) + rows(second) == made[::-1]
    assert second.root.links["First page"] == f"{PATH}?queue=mail"
    assert "Next page" not in second.root.links
    assert lena.get(PATH, cursor="mine").status == 422


def test_the_rail_and_the_job_lead_there(stage: Stage, lena: Browser) -> None:
    late(stage, "order-1")
    stage.submit("quiet")
    assert lena.get("/verify/").root.links["Late writes"] == PATH
    link = lena.get("/jobs/order-1/").node("facts").links["1 kept as testimony"]
    assert rows(lena.get(link)) == [f"order-1-{stage.row('order-1').seq}"]
    assert "kept as testimony" not in lena.get("/jobs/quiet/").node("facts").text
