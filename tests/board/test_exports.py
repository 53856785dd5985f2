"""The Verify queue and the list of jobs as files: what their filters show, harmless, kept as exports."""

import csv
import io

import pytest

from runs.models import Reading

from .cast import Browser, Stage

JOBS, QUEUE = "/jobs/export.csv", "/verify/export.csv"


def lines(browser: Browser, path: str, **query: str) -> tuple[str, list[dict[str, str]]]:
    answer = browser.client.get(path, query)
    assert answer.status_code == 200
    about, columns, *rows = csv.reader(io.StringIO(answer.content.decode()))
    return about[0], [dict(zip(columns, row, strict=True)) for row in rows]


def test_what_the_list_shows_and_what_narrowed_it(stage: Stage, lena: Browser) -> None:
    stage.submit("ready-1")
    stage.unknown("order-1")
    stage.cancel(stage.submit("order-2"))
    about, rows = lines(lena, JOBS, q="order")
    assert about.startswith("cancelboard jobs; filter: q=order; tenant: acme; by: lena; at: ")
    assert "lines: 2; whole: True" in about
    assert [row["job_id"] for row in rows] == ["order-2", "order-1"]
    assert (rows[0]["headline"], rows[0]["status"]) == ("stopped", "Stopped; 0 of 3 steps had happened")
    assert rows[1]["headline"] == "verifying_unknown"
    assert rows[1]["unsettled_since"].endswith("Z")
    assert rows[1]["cancel_cause"] == "user_requested"
    _, waiting = lines(lena, QUEUE, state="unknown")
    assert [row["job_id"] for row in waiting] == ["order-1"]
    assert lines(lena, QUEUE, state="inflight")[1] == []


def test_only_what_one_may_see(stage: Stage) -> None:
    stage.unknown("mine")
    stage.unknown("theirs", owner="customer-2")
    for name, seen in (("lena", {"mine", "theirs"}), ("olga", {"mine"}), ("ada", set())):
        for path in (JOBS, QUEUE):
            assert {row["job_id"] for row in lines(stage.browser(name), path)[1]} == seen, name
    assert Browser().get(JOBS).status == 302


def test_no_cell_is_a_formula(stage: Stage, lena: Browser) -> None:
    stage.unknown("order-1", "=HYPERLINK(1)", owner="@customer")
    for path in (JOBS, QUEUE):
        row = lines(lena, path)[1][0]
        assert (row["title"], row["customer"]) == ("'=HYPERLINK(1)", "'@customer")


def test_that_it_was_taken_is_kept(stage: Stage, lena: Browser) -> None:
    lines(lena, JOBS, queue="mail")
    lines(lena, QUEUE)
    kept = Reading.objects.filter(kind="export").order_by("id").values_list("user__name", "filter")
    assert list(kept) == [("lena", "jobs: queue=mail"), ("lena", "verify: everything")]


def test_a_list_that_was_cut_says_so(stage: Stage, lena: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.queries.exports.MOST", 1)
    for n in range(2):
        stage.unknown(f"order-{n}")
    for path in (JOBS, QUEUE):
        about, rows = lines(lena, path)
        assert "lines: 1; whole: False" in about
        assert len(rows) == 1


def test_the_lists_lead_there_with_their_filters(stage: Stage, lena: Browser) -> None:
    stage.unknown("order-1")
    assert lena.get("/jobs/", q="order").root.links["CSV"] == f"{JOBS}?q=order"
    assert lena.get("/verify/", queue="mail").root.links["CSV"] == f"{QUEUE}?queue=mail"


def test_a_filter_that_cannot_be_meant(lena: Browser) -> None:
    assert lena.get(JOBS, headline="nonsense").status == 404
    assert lena.get(JOBS, q="a\0b").status == 404
    assert lena.get(QUEUE, queue="a\0b").status == 404
