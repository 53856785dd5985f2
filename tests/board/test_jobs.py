"""The list of jobs: found by what one knows of them, newest first, page after page."""

from typing import Any

import pytest

from runs.models import Job
from runs.words import HEADLINES

from .cast import Browser, Stage
from .pages import Page


def rows(page: Page) -> list[str]:
    return [css_id.removeprefix("row-") for css_id in page.root.ids if css_id.startswith("row-")]


@pytest.fixture
def jobs(stage: Stage) -> None:
    stage.submit("order-1", "Send welcome mail")
    stage.cancel(stage.submit("order-2", "Send bill"))
    stage.submit("ledger-1", "Book it", queue="ledger", owner="customer-2")
    stage.unknown("mail-1", "100% sure")


def test_newest_first(lena: Browser, jobs: None) -> None:
    assert rows(lena.get("/jobs/")) == ["mail-1", "ledger-1", "order-2", "order-1"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "order-"}, ["order-2", "order-1"]),
        ({"q": "ORDER-1"}, ["order-1"]),
        ({"q": "Send w"}, ["order-1"]),
        ({"q": "customer-2"}, ["ledger-1"]),
        ({"q": "100%"}, ["mail-1"]),
        ({"q": "%"}, []),
        ({"q": "_rder"}, []),
        ({"q": "welcome"}, []),  # the beginning of a title, not any part of it
        ({"queue": "ledger"}, ["ledger-1"]),
        ({"headline": "stopped"}, ["order-2"]),
        ({"headline": "verifying_unknown"}, ["mail-1"]),
        ({"headline": "ready", "queue": "mail"}, ["order-1"]),
        ({"owner": "customer-2"}, ["ledger-1"]),
        ({"owner": "customer-"}, []),
        ({"disputed": "true"}, []),
        ({"queue": "", "headline": "", "q": ""}, ["mail-1", "ledger-1", "order-2", "order-1"]),
    ],
)
def test_found_by_what_one_knows(lena: Browser, jobs: None, query: dict[str, Any], found: list[str]) -> None:
    page = lena.get("/jobs/", **query)
    assert rows(page) == found
    if found:
        assert f"{len(found)} shown" in page.text
        assert rows(lena.get(page.node("results")["data-live"])) == found, "live looks at the same list"
    else:
        assert "No job that you may see matches" in page.text
        assert page.root.links["Clear"] == "/jobs/"


@pytest.mark.parametrize("name", ["q", "queue", "headline", "owner", "disputed", "cursor"])
@pytest.mark.parametrize("value", ["\x00", "x" * 5000, "' OR 1=1 --", "\u202e", "no such thing"])
def test_whatever_stands_in_the_address_is_no_failure(
    lena: Browser, jobs: None, name: str, value: str
) -> None:
    page = lena.get("/jobs/", **{name: value})
    assert page.status == (422 if name == "cursor" else 200)
    assert rows(page) == []
    if name == "cursor":
        assert page.root.links["Verify queue"] == "/verify/"


def test_the_filters_say_what_is_set(lena: Browser, jobs: None) -> None:
    page = lena.get("/jobs/", q="order", headline="stopped", queue="mail")
    assert page.node("filter-q")["value"] == "order"
    for name, label in (("headline", "Stopped; k of n steps had happened"), ("queue", "mail")):
        chosen = [o.text for o in page.node(f"filter-{name}").all("option") if "selected" in o.attributes]
        assert chosen == [label]
    offered = {option["value"] for option in page.node("filter-headline").all("option")}
    assert offered == {"", *HEADLINES}


def test_pages_follow_each_other_without_gap_or_repeat(
    stage: Stage, lena: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.board.jobs.PAGE", 2)
    for n in range(5):
        stage.submit(f"order-{n}")
    stage.submit("ledger-1", queue="ledger")
    seen: list[str] = []
    address = "/jobs/?queue=mail&q=order"
    for n in range(3):
        page = lena.get(address)
        assert ("First page" in page.root.links) is (n > 0)
        seen += rows(page)
        address = page.root.links.get("Next page", "")
        stage.submit(f"order-new-{n}")  # what comes meanwhile moves nothing
    assert seen == [f"order-{n}" for n in (4, 3, 2, 1, 0)]
    assert address == ""


def test_a_cursor_of_the_other_list_is_refused(
    stage: Stage, lena: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.board.jobs.PAGE", 1)
    stage.unknown("order-1")
    stage.unknown("order-2")
    cursor = lena.get("/jobs/").root.links["Next page"].partition("cursor=")[2]
    assert lena.get(f"/verify/?cursor={cursor}").status == 422


def test_there_are_none_yet(stage: Stage, lena: Browser) -> None:
    assert "There are no jobs that you may see yet." in lena.get("/jobs/").text


def test_the_bar_has_a_piece_for_each_step_or_run_of_equal_ones(stage: Stage, lena: Browser) -> None:
    stage.begin("few", "a", "b", "c", "d")
    stage.report("few", 0, "ok")
    stage.reserve("few")
    stage.begin("many", *map(str, range(100)))
    stage.report("many", 0, "ok")
    stage.cancel("many")
    for job, looks in (("few", ["ok", "pending", "none", "none"]), ("many", ["ok", "held"])):
        pieces = lena.get("/jobs/").node(f"row-{job}").all("rect")
        assert [piece["class"] for piece in pieces] == looks
        ends = [float(piece["x"]) + float(piece["width"]) for piece in pieces]
        assert ends == sorted(ends)
        assert 95 < ends[-1] <= 100
        assert all(float(piece["width"]) > 0 for piece in pieces)


def test_the_longest_job_is_a_page_of_its_own_kind(stage: Stage, lena: Browser) -> None:
    stage.submit("long", *(f"Step {n}" for n in range(256)))
    assert Job.objects.get().n_steps == 256
    assert len(lena.get("/jobs/").node("row-long").all("rect")) == 1
    page = lena.get("/jobs/long/")
    assert len(page.node("steps").all("tr")) == 257
