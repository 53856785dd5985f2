"""Tombstones, and one event by its id."""

import pytest

from .cast import Browser, Stage, spec
from .pages import Page


def rows(page: Page) -> list[str]:
    return [css_id.removeprefix("row-") for css_id in page.root.ids if css_id.startswith("row-")]


def bury(stage: Stage, job: str, **given: str) -> str:
    stage.specs[job] = spec(**given)
    answer = stage("system", job, "cancel", spec=stage.specs[job], cause="task_deleted")
    assert answer.status == "tombstoned"
    return job


def test_a_tombstone_says_what_it_refuses_and_how_often(stage: Stage, lena: Browser) -> None:
    page = lena.get("/tombstones/")
    assert "No job was blocked before it started." in page.text
    bury(stage, "order-1@7")
    fresh = lena.get("/tombstones/").node("row-order-1@7").text
    assert "Send welcome mail · queue mail" in fresh
    assert "by system Task deleted" in fresh
    assert "has not come yet" in fresh
    assert fresh.endswith("7 not sealed")
    for times in (1, 2):
        late = stage("system", "order-1@7", "submit", job_id="order-1@7", spec=stage.specs["order-1@7"])
        assert late.status == "blocked_cancelled"
        row = lena.get("/tombstones/").node("row-order-1@7").text
        assert ("refused once" if times == 1 else "refused 2 times") in row
        assert "last " in row
    stage("system", None, "seal", generation=7)  # type: ignore[arg-type]
    assert "sealed: may be archived" in lena.get("/tombstones/").node("row-order-1@7").text
    job = lena.get("/jobs/order-1@7/")
    assert "The job arrived 2 times since and was refused." in job.text
    assert "Blocked before it started: the cancel came before the job" in job.text


def test_only_tombstones_and_only_those_one_may_see(stage: Stage) -> None:
    bury(stage, "mine")
    bury(stage, "theirs", owner="customer-2")
    bury(stage, "ledger", queue="ledger", owner="customer-2")
    stage.cancel(stage.submit("stopped"))
    for name, seen in (("lena", ["ledger", "theirs", "mine"]), ("olga", ["mine"]), ("ada", [])):
        assert rows(stage.browser(name).get("/tombstones/")) == seen, name


def test_pages_of_tombstones(stage: Stage, lena: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.queries.tombstones.PAGE", 2)
    for n in range(3):
        bury(stage, f"order-{n}")
    first = lena.get("/tombstones/")
    assert "2 shown" in first.text
    second = lena.get(first.root.links["Next page"])
    assert rows(first) + rows(second) == ["order-2", "order-1", "order-0"]
    assert second.root.links["First page"] == "/tombstones/"
    assert lena.get("/tombstones/?cursor=mine").status == 422


class TestEvent:
    def test_what_was_saved(self, stage: Stage, lena: Browser) -> None:
        stage.begin("order-1")
        stage.cancel("order-1", event_id="b-77")
        page = lena.get("/events/b-77/")
        assert "This was saved" in page.text
        for words in ("Command cancel", "Answer requested", "By lena", "Event id b-77"):
            assert words in page.text, words
        assert page.root.links["Open the job"] == "/jobs/order-1/#ev-4"

    def test_what_was_not_and_what_one_may_not_see(self, stage: Stage) -> None:
        stage.begin("order-1", owner="customer-2")
        stage.cancel("order-1", event_id="b-77")
        olga = stage.browser("olga")
        for name in ("b-77", "b-78"):
            page = olga.get(f"/events/{name}/")
            assert page.status == 200
            assert "No record of this so far" in page.text
            assert "order-1" not in page.html

    def test_the_form_links_to_the_event_it_would_be(self, stage: Stage, lena: Browser) -> None:
        stage.begin("order-1")
        page = lena.get("/jobs/order-1/cancel/")
        (link,) = [node["href"] for node in page.root.all("a") if node.text == "Look it up"]
        assert link == f"/events/{page.fields['event_id']}/"
        assert "No record of this so far" in lena.get(link).text
        lena.post("/jobs/order-1/cancel/", page.fields | {"cause": "user_requested"})
        assert "This was saved" in lena.get(link).text

    @pytest.mark.parametrize("name", ["-x", "%00", "a%20b", "x" * 200, "..%2F..%2Fetc"])
    def test_what_is_no_event_id_is_404(self, lena: Browser, name: str) -> None:
        assert lena.get(f"/events/{name}/").status == 404


def test_the_keys_are_a_page_and_a_part(lena: Browser) -> None:
    assert lena.get("/help/keys/").root.all("h1")[0].text == "Keyboard"
    assert lena.get("/help/keys/", fragment=True).root.all("h2")[0].text == "Keyboard"
