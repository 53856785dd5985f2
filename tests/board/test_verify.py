"""The Verify queue: which jobs, in which order, under which figures; and how it says that there are none."""

from datetime import timedelta
from typing import Any

import pytest

from runs.models import Queue, Tool
from runs.queries import figures

from .cast import Browser, Stage
from .pages import Page


def rows(page: Page) -> list[str]:
    return [css_id.removeprefix("row-") for css_id in page.root.ids if css_id.startswith("row-")]


def figure(page: Page, name: str) -> str:
    return page.node(f"fig-{name}").text


def told_ago(stage: Stage, minutes: float, job: str, **given: Any) -> str:
    """A job whose step went out that long ago; commands live by that time, pages by the real one."""
    now, stage.ago = stage.ago, timedelta(minutes=minutes)
    try:
        return stage.unknown(job, **given)
    finally:
        stage.ago = now


def test_it_holds_jobs_with_a_cancel_requested_and_a_step_out(stage: Stage, lena: Browser) -> None:
    stage.unknown("asked-and-unknown")
    stage.begin("asked-and-inflight")
    stage.cancel("asked-and-inflight")
    stage.report(stage.begin("unknown-only"), 0, "unknown")
    stage.begin("inflight-only")
    stage.submit("ready")
    stage.cancel(stage.submit("stopped"))
    assert rows(lena.get("/verify/")) == ["asked-and-unknown", "asked-and-inflight"]


def test_longest_waiting_first_past_target_in_a_group_of_its_own(stage: Stage, lena: Browser) -> None:
    Queue.objects.filter(name="ledger").update(limit_seconds=7200)
    told_ago(stage, 200, "older")
    told_ago(stage, 5, "young")
    told_ago(stage, 300, "oldest")
    told_ago(stage, 100, "patient", queue="ledger")
    told_ago(stage, 90, "old")
    page = lena.get("/verify/")
    assert rows(page) == ["oldest", "older", "old", "patient", "young"]
    groups = [node.text for node in page.root.all("tr", "grp")]
    assert groups == ["Past target 3 jobs on this page", "Within target 2 jobs on this page"]
    assert figure(page, "unverified") == "Unverified jobs 5 cancel requested"
    assert figure(page, "longest") == "Longest wait 5 h 00 min"
    assert figure(page, "past") == "Past target 3"


def test_a_row_says_what_is_known_and_what_is_asked(stage: Stage, lena: Browser) -> None:
    Tool.objects.create(tenant=stage.tenant, name="smtp/2", label="Mail house")
    stage.submit("order-1", "Reserve seat", {"label": "Send mail", "tool": "smtp/2"}, "Send bill")
    stage.claim("order-1")
    stage.report(stage.reserve("order-1"), 0, "ok")
    stage.cancel(stage.reserve("order-1"))
    row = lena.get("/verify/").node("row-order-1").text
    for words in (
        "Reserve seat customer-1 order-1",
        "Send mail, Mail house",
        "s before cancel",
        "Verifying sent step",
        "cancel requested; 1 happened, 1 waiting for its answer, 1 held",
    ):
        assert words in row, words


def test_an_entry_that_waits_stands_in_its_row(stage: Stage, lena: Browser, sam: Browser) -> None:
    stage.unknown("book-1", queue="books")
    stage(
        "lena",
        "book-1",
        "reconcile",
        ordinal=0,
        outcome="ok",
        evidence={"kind": "receiver_confirmed", "text": "seen"},
    )
    page = lena.get("/verify/")
    row = page.node("row-book-1")
    assert "Awaiting second person" in row.text
    assert "cancel requested; 1 unknown, 2 held; lena entered an outcome" in row.text
    assert "Waiting for a second person" in row.text
    assert "/jobs/book-1/steps/0/outcome/" not in row.links.values()
    assert figure(page, "second") == "Waiting for a second person 1 0 you may approve", (
        "nobody approves their own"
    )
    assert rows(lena.get("/verify/", state="waiting")) == ["book-1"]


def test_an_entry_that_was_overtaken_frees_its_row(stage: Stage, lena: Browser) -> None:
    job = stage.begin("book-1", queue="books")
    stage.cancel(job)
    stage("lena", job, "revoke")
    stage(
        "lena",
        job,
        "reconcile",
        ordinal=0,
        outcome="ok",
        evidence={"kind": "receiver_confirmed", "text": "x"},
    )
    stage.report(job, 0, "ok", value="late")
    page = lena.get("/verify/")
    assert "Record outcome" in page.node("row-book-1").text
    assert figure(page, "second").startswith("Waiting for a second person 0")
    assert rows(lena.get("/verify/", state="waiting")) == []


def test_filters_narrow_and_are_kept_in_the_address(stage: Stage, lena: Browser) -> None:
    Tool.objects.create(tenant=stage.tenant, name="smtp/2", label="Mail house")
    stage.unknown("mail-1", {"label": "A", "tool": "smtp/2"})
    stage.unknown("mail-2", owner="customer-2")
    stage.unknown("ledger-1", queue="ledger")
    stage.begin("mail-3")
    stage.cancel("mail-3")
    for query, expected in (
        ({"queue": "ledger"}, ["ledger-1"]),
        ({"system": "smtp/2"}, ["mail-1"]),
        ({"customer": "customer-2"}, ["mail-2"]),
        ({"state": "inflight"}, ["mail-3"]),
        ({"state": "unknown", "queue": "mail"}, ["mail-1", "mail-2"]),
        ({"state": "no such state"}, ["mail-1", "mail-2", "ledger-1", "mail-3"]),
    ):
        page = lena.get("/verify/", **query)
        assert rows(page) == expected, query
        assert f"{len(expected)} of {len(expected)} shown" in page.text
        address = page.node("results")["data-live"]
        assert rows(lena.get(address)) == expected
    assert "Mail house" in lena.get("/verify/").node("filter-system").text


def test_a_filter_that_only_links_set_is_in_sight(stage: Stage, lena: Browser) -> None:
    stage.unknown("mail-1")
    assert not lena.get("/verify/").has("filter-customer")
    page = lena.get("/verify/", customer="nobody", system="gone/1")
    assert page.node("filter-customer").all("option")[1].attributes == {"value": "nobody", "selected": ""}
    assert page.node("filter-system").all("option")[1]["value"] == "gone/1"


@pytest.mark.parametrize("name", ["queue", "system", "customer", "state", "cursor"])
@pytest.mark.parametrize("value", ["\x00", "x" * 5000, "' OR 1=1 --", "%"])
def test_whatever_stands_in_the_address_is_no_failure(
    stage: Stage, lena: Browser, name: str, value: str
) -> None:
    stage.unknown("mail-1")
    page = lena.get("/verify/", **{name: value})
    assert page.status == (422 if name == "cursor" else 200)
    if name == "cursor":
        assert "This address can't be read." in page.text
    elif name != "state":
        assert rows(page) == []


def test_nothing_waits(stage: Stage, lena: Browser) -> None:
    page = lena.get("/verify/")
    assert "Nothing that you may see is waiting." in page.text
    assert "Last outcome recorded" not in page.text
    assert page.root.links["Look up a job"] == "/jobs/"
    assert figure(page, "longest") == "Longest wait –"
    job = stage.unknown("order-1")
    stage(
        "sam", job, "reconcile", ordinal=0, outcome="ok", evidence={"kind": "receiver_confirmed", "text": "x"}
    )
    page = lena.get("/verify/")
    assert "Last outcome recorded " in page.text
    assert " by sam." in page.text
    assert figure(page, "settled") == "Recorded today 1 1 had happened"


def test_no_row_matches(stage: Stage, lena: Browser) -> None:
    stage.unknown("order-1")
    page = lena.get("/verify/", queue="ledger")
    assert "No unverified job matches these filters" in page.text
    assert page.root.links["Clear filters"] == "/verify/"
    assert figure(page, "unverified") == "Unverified jobs 1 cancel requested", "figures count without filters"


def test_recorded_today_counts_what_people_recorded(stage: Stage, lena: Browser) -> None:
    """Whatever a text says about an outcome."""
    says = {"kind": "receiver_refused", "text": 'It says {"outcome":"ok"}.'}
    stage("sam", stage.unknown("a"), "reconcile", ordinal=0, outcome="rejected", evidence=says)
    confirmed = {"kind": "receiver_confirmed", "text": "seen"}
    stage("sam", stage.unknown("b"), "reconcile", ordinal=0, outcome="ok", evidence=confirmed)
    job = stage.unknown("c", queue="books")
    entry = stage("lena", job, "reconcile", ordinal=0, outcome="ok", evidence=confirmed).fields["proposal"]
    stage("system", job, "approve", proposal=entry)
    stage.report(stage.begin("d"), 0, "ok")
    assert figure(lena.get("/verify/"), "settled") == "Recorded today 3 2 had happened"


def test_pages_follow_each_other_without_gap_or_repeat(
    stage: Stage, lena: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.queries.verify_queue.PAGE", 2)
    jobs = [stage.unknown(f"order-{n}") for n in range(5)]
    seen: list[str] = []
    address = "/verify/?queue=mail"
    for n in range(3):
        page = lena.get(address)
        assert ("First page" in page.root.links) is (n > 0)
        assert f"{len(rows(page))} of 5 shown" in page.text
        seen += rows(page)
        address = page.root.links.get("Next page", "")
    assert seen == jobs
    assert address == ""


def test_a_page_that_was_settled_leads_to_the_first(
    stage: Stage, lena: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.queries.verify_queue.PAGE", 1)
    stage.unknown("order-1")
    stage.unknown("order-2")
    address = lena.get("/verify/?queue=mail").root.links["Next page"]
    stage.report("order-2", 0, "ok")
    page = lena.get(address)
    assert "What stood on this page has been settled" in page.text
    assert page.root.links["Go to the first page"] == "/verify/?queue=mail"


def test_counts_are_capped_and_say_so(stage: Stage, lena: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "CAP", 2)
    monkeypatch.setattr("runs.board.verify.CAP", 2)
    for n in range(4):
        stage.unknown(f"order-{n}")
    page = lena.get("/verify/")
    assert figure(page, "unverified") == "Unverified jobs 2+ cancel requested"
    assert "4 of 2+ shown" in page.text
    assert page.node("n-verify").text == "4", "the rail counts to 99"


def test_the_rail_is_amber_only_for_who_can_act(stage: Stage) -> None:
    stage.unknown("order-1")
    for name, hot in (("sam", True), ("lena", True), ("omar", False), ("aud", False), ("olga", False)):
        count = stage.browser(name).get("/jobs/").node("n-verify")
        assert (count.text, "hot" in count["class"].split()) == ("1", hot), name
