"""What a live page is given when it looks again: the rows asked for as they are now, and what it has not on
screen is counted, never moved in. Each part has one root with an id."""

import re

import pytest
from django.test.html import parse_html

from runs.models import Receipt, Step

from .cast import Browser, Stage
from .pages import Node, Page


def parts(page: Page) -> dict[str, Node]:
    """By id. Rows are parsed one by one, as a browser's template element takes them."""
    assert page.status == 200
    roots = [child for child in parse_html(f"<div>{page.html}</div>").children if not isinstance(child, str)]
    found = [Node(root) for root in roots]
    assert all(node["id"] for node in found), "a part without an id has no place"
    ids = [node["id"] for node in found]
    assert len(ids) == len(set(ids))
    return dict(zip(ids, found, strict=True))


def rows(page: Page) -> dict[str, Node]:
    return {css_id.removeprefix("row-"): node for css_id, node in parts(page).items() if css_id[:4] == "row-"}


FRAME = {"n-verify", "m-verify", "t-verify", "data-at"}


class TestVerifyQueue:
    def test_rows_that_were_asked_for_as_they_are_now(self, stage: Stage, sam: Browser) -> None:
        stage.begin("order-1")
        stage.cancel("order-1")
        stage.unknown("order-2")
        first = sam.get("/verify/")
        assert "Verifying sent step" in first.node("row-order-1").text
        stage.report("order-1", 0, "unknown")
        patch = sam.get("/verify/", fragment=True, jobs="order-1", shown="order-1,order-2")
        assert rows(patch).keys() == {"order-1"}
        row = rows(patch)["order-1"]
        assert "Outcome unknown" in row.text
        assert int(row["data-seq"]) == int(first.node("row-order-1")["data-seq"]) + 1
        assert parts(patch).keys() >= FRAME | {"figures", "held"}
        assert "hidden" in parts(patch)["held"].attributes

    def test_a_row_that_left_stays_and_says_why(self, stage: Stage, sam: Browser) -> None:
        stage.unknown("order-1")
        stage("lena", "order-1", "revoke")
        evidence = {"kind": "receiver_refused", "text": "550"}
        stage("lena", "order-1", "reconcile", ordinal=0, outcome="rejected", evidence=evidence)
        patch = sam.get("/verify/", fragment=True, jobs="order-1", shown="order-1")
        row = rows(patch)["order-1"]
        assert "gone" in row["class"].split()
        for words in (
            "settled",
            "Send welcome mail",
            "Did not happen",
            "Failed; cancel confirmed, nothing more will start, by lena; kept in place until you refresh",
        ):
            assert words in row.text, words
        assert "/steps/0/outcome/" not in " ".join(row.links.values()), "it lost its action"
        assert "row-order-1" not in sam.get("/verify/").html
        assert parts(patch)["figures"].text.startswith("Unverified jobs 0")
        assert parts(patch)["n-verify"].text == ""

    def test_a_step_that_was_never_sent_left_as_held_not_as_what_happened_before(
        self, stage: Stage, sam: Browser
    ) -> None:
        stage.submit("order-1", "Reserve seat", "Send mail", "Send bill", dispatch="marked")
        stage.claim("order-1")
        stage.reserve("order-1")
        stage("system", "order-1", "dispatch", ordinal=0, attempt=_attempt("order-1"))
        stage.report("order-1", 0, "ok")
        stage.reserve("order-1")
        attempt = _attempt("order-1")
        stage.cancel("order-1")
        assert "Send mail" in sam.get("/verify/").node("row-order-1").text
        assert stage("system", "order-1", "dispatch", ordinal=1, attempt=attempt).status == "cancelled"
        row = rows(sam.get("/verify/", fragment=True, jobs="order-1"))["order-1"]
        assert "Send mail" in row.text
        assert "Held" in row.text
        assert "Happened" not in row.text.replace("had happened", "")

    def test_what_is_not_on_screen_is_counted_by_this_page_and_its_filters(
        self, stage: Stage, sam: Browser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("runs.queries.verify_queue.PAGE", 2)
        for n in range(4):
            stage.unknown(f"order-{n}")
        second = sam.get("/verify/?queue=mail").root.links["Next page"]
        address = sam.get(second).node("results")["data-live"]
        at_rest = sam.get(address, fragment=True, jobs="", shown="order-2,order-3")
        assert parts(at_rest)["held"]["data-count"] == "0"
        stage.unknown("ledger-1", queue="ledger")
        stage.unknown("order-4")
        stage.report("order-2", 0, "ok")
        patch = sam.get(address, fragment=True, jobs="", shown="order-2,order-3")
        assert parts(patch)["held"]["data-count"] == "1", "order-4 would follow; ledger-1 is not asked for"
        assert parts(patch)["held"].links["Show R"] == address

    def test_only_totals_changed(self, stage: Stage, sam: Browser) -> None:
        stage.unknown("order-1")
        patch = sam.get("/verify/", fragment=True, jobs="", shown="")
        assert rows(patch) == {}
        assert parts(patch)["held"]["data-count"] == "1"
        assert parts(patch)["n-verify"].text == "1"

    def test_the_invisible_is_left_out(self, stage: Stage) -> None:
        stage.unknown("mine")
        stage.unknown("theirs", owner="customer-2")
        olga = stage.browser("olga")
        for path in ("/verify/", "/jobs/"):
            assert rows(olga.get(path, fragment=True, jobs="mine,theirs,nothing")).keys() == {"mine"}

    @pytest.mark.parametrize("jobs", ["\x00", "a" * 100_000, ",,,", ",".join(map(str, range(1000))), "'"])
    def test_whatever_is_asked_for_is_no_failure(self, stage: Stage, sam: Browser, jobs: str) -> None:
        for path in ("/verify/", "/jobs/"):
            assert rows(sam.get(path, fragment=True, jobs=jobs, shown=jobs)) == {}


def _attempt(job: str) -> str:
    """Of the last reservation."""
    reserved = Step.objects.filter(job__job_id=job).exclude(attempt=None)
    return str(reserved.latest("ordinal").attempt)


class TestJobs:
    def test_only_what_a_row_says_changes(self, stage: Stage, sam: Browser) -> None:
        stage.submit("order-1")
        before = sam.get("/jobs/").node("row-order-1")
        stage.cancel("order-1")
        patch = sam.get("/jobs/", fragment=True, jobs="order-1")
        assert parts(patch).keys() >= FRAME | {"held", "row-order-1"}
        row = rows(patch)["order-1"]
        assert "Stopped; 0 of 3 steps had happened" in row.text
        assert int(row["data-seq"]) > int(before["data-seq"])


class TestJob:
    def patch(self, browser: Browser, after: int | str) -> Page:
        return browser.get("/jobs/order-1/", fragment=True, jobs="order-1", after=after)

    def test_later_receipts_are_appended_and_no_earlier_one_is_repeated(
        self, stage: Stage, sam: Browser
    ) -> None:
        stage.begin("order-1")
        assert [event["id"] for event in sam.get("/jobs/order-1/").node("timeline").all("li")] == [
            "ev-1",
            "ev-2",
            "ev-3",
        ]
        stage.cancel("order-1")
        stage.report("order-1", 0, "ok", value="250")
        given = parts(self.patch(sam, 3))
        events = [css_id for css_id in given if css_id.startswith("ev-")]
        assert events == ["ev-4", "ev-5", "ev-6"]
        assert all(given[event]["data-append"] == "timeline" for event in events)
        assert given.keys() >= FRAME | {"verdict", "steps", "tell", "next", "facts"}
        seq = str(stage.row("order-1").seq)
        assert {given[part]["data-seq"] for part in ("verdict", "steps", "tell", "next", "facts")} == {seq}
        assert given["verdict"]["data-announce"] == "Stopped; 1 of 3 steps had happened"
        assert "Recorded by system" in given["next"].text

    def test_nothing_new_gives_no_receipt(self, stage: Stage, sam: Browser) -> None:
        stage.begin("order-1")
        given = parts(self.patch(sam, 3))
        assert not [css_id for css_id in given if css_id.startswith("ev-")]

    def test_the_rail_goes_on_as_it_was_before_the_patch(self, stage: Stage, sam: Browser) -> None:
        stage.begin("order-1")
        stage("lena", "order-1", "cancel", spec_digest=stage.specs["order-1"].digest)
        given = parts(self.patch(sam, 3))
        assert given["ev-4"]["class"].split() == ["stop", "u"], "the step of receipt 3 is out still"
        stage.report("order-1", 0, "ok")
        given = parts(self.patch(sam, 3))
        assert given["ev-4"]["class"].split() == ["stop", "u"]
        assert "u" not in given["ev-5"]["class"].split()

    def test_after_a_long_absence_none_is_missed(
        self, stage: Stage, sam: Browser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("runs.queries.job_page.MOST_EVENTS", 3)
        stage.submit("order-1")
        for _ in range(4):
            stage("omar", "order-1", "pause")
            stage("omar", "order-1", "resume")
        last, seen = 1, []
        while new := [int(css_id[3:]) for css_id in parts(self.patch(sam, last)) if css_id[:3] == "ev-"]:
            seen += new
            last = new[-1]
        assert seen == list(range(2, 10))

    @pytest.mark.parametrize("after", ["", "x", "-1", "²", "9" * 5000, "9" * 18, "1e3", "\x00"])
    def test_whatever_it_asks_after_is_no_failure(self, stage: Stage, sam: Browser, after: str) -> None:
        stage.begin("order-1")
        events = [css_id for css_id in parts(self.patch(sam, after)) if css_id.startswith("ev-")]
        assert len(events) == (0 if after == "9" * 18 else 3)
        assert sam.get("/jobs/order-1/", before=after).status == 200


def test_the_time_of_the_data_is_before_it_was_read(stage: Stage, sam: Browser) -> None:
    """A receipt that a page does not show may not be older than the page says it is."""
    stage.begin("order-1")
    page = sam.get("/jobs/order-1/")
    stage.cancel("order-1")
    at = re.search(r'<time id="data-at" datetime="([^"]+)"', page.html)
    assert at
    assert Receipt.objects.get(kind="cancel").at.isoformat() >= at[1]
