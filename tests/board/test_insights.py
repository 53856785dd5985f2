"""Insights: what the plots say, whom they are for, and that table, file, bar and list say the same."""

import csv
import io
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from runs import tallies
from runs.models import Grant, Queue, Tenant, Tool, User
from tests.board.test_queries import cost

from .cast import CONFIRMED, REFUSED, Browser, Stage
from .pages import Page

PATH = "/insights/"


@pytest.fixture(autouse=True)
def _own_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test on `db` never commits: its receipts are all of a transaction that is still open."""
    monkeypatch.setitem(tallies.WHERE, "postgresql", "(r.xid, r.id) > (%s, %s) ORDER BY r.xid, r.id")


@pytest.fixture
def settled(stage: Stage) -> Callable[..., str]:
    """An unknown step that was settled, an hour later."""

    def tell(job: str, outcome: str = "ok", ago: float = 5, **given: object) -> str:
        stage.ago = timedelta(hours=ago)
        stage.unknown(job, **given)
        stage.ago -= timedelta(hours=1)
        evidence = CONFIRMED if outcome == "ok" else REFUSED
        stage("system", job, "reconcile", ordinal=0, outcome=outcome, evidence=evidence)
        stage.ago = timedelta(0)
        return job

    return tell


def table(page: Page, plot: str) -> list[list[str]]:
    """The rows of a plot that is shown as a table."""
    rows = page.node(plot).all("tbody")[0].all("tr")
    return [[cell.text for cell in row.every() if cell.element.name in ("th", "td")] for row in rows]


def file(browser: Browser, plot: str, query: str = "") -> list[list[str]]:
    """Without its first line and its head."""
    answer = browser.get(f"{PATH}{plot}.csv{query}")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8", answer.text
    return list(csv.reader(io.StringIO(answer.html)))[2:]


def total(rows: list[list[str]], column: int) -> int:
    return sum(int(row[column].replace(",", "")) for row in rows if row[column] != "–")


def test_an_empty_board_says_so_in_each_plot(lena: Browser) -> None:
    page = lena.get(PATH)
    assert page.status == 200
    assert "Nothing that you may see is waiting." in page.node("age").text
    assert "No outcome was unknown in this time." in page.node("backlog").text
    assert not page.node("results").all("rect", "open")
    assert "CSV" not in page.node("backlog").text


def test_it_is_in_the_rail(lena: Browser) -> None:
    assert lena.get("/verify/").root.links["Insights"] == PATH


def test_what_was_opened_and_settled(stage: Stage, settled: Callable[..., str], lena: Browser) -> None:
    settled("order-1")
    settled("order-2", "rejected")
    settled("order-3", "rejected")
    stage.unknown("order-4")
    tallies.fold()
    rows = table(lena.get(PATH, table="flow"), "flow")
    assert [total(rows, column) for column in (1, 2, 3, 4)] == [4, 2, 1, 1]
    assert rows == file(lena, "flow")
    page = lena.get(PATH)
    assert "4 became unknown and 3 were settled." in page.node("flow").text
    assert "Of 3 settled, 33% had happened although nobody knew." in page.node("share").text
    assert page.node("fig-unknown").text == "Unknown now 1 steps"
    assert page.node("share").all("rect", "few")  # 3 are few


def test_days_are_cut_in_the_readers_zone(stage: Stage, lena: Browser) -> None:
    """In Kathmandu the day begins at 18:15 UTC."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for n, at in enumerate((timedelta(hours=18, minutes=14), timedelta(hours=18, minutes=16))):
        stage.ago = datetime.now(UTC) - (today - timedelta(days=3) + at)
        stage.unknown(f"order-{n}")
    tallies.fold()
    for zone, days in (("UTC", [2]), ("Asia/Kathmandu", [1, 1])):
        lena.client.cookies["zone"] = zone
        rows = file(lena, "flow")
        assert [int(row[1]) for row in rows if row[1] not in ("0", "–")] == days, zone


def test_what_was_never_counted_is_a_gap(stage: Stage, lena: Browser) -> None:
    stage.ago = timedelta(days=3)
    stage.unknown("order-1")
    stage.ago = timedelta(0)
    tallies.fold()
    counted = [row[1] for row in file(lena, "flow", "?range=7d")]
    assert counted[:3] == ["–", "–", "–"]
    assert "0" in counted
    assert counted.count("1") == 1


def test_a_stop_that_still_waits_counts_as_at_least_its_age(stage: Stage, lena: Browser) -> None:
    stage.ago = timedelta(hours=3)
    stage.begin("order-1")
    stage.cancel("order-1", "system")
    stage.ago = timedelta(0)
    tallies.fold()
    asked = [row for row in file(lena, "confirm", "?range=24h") if row[1] == "1"]
    for cell in (cell for row in asked for cell in row[2:]):
        assert (found := re.fullmatch(r"> (\d) h (\d\d) min", cell)), cell
        assert 2 * 60 + 44 <= int(found[1]) * 60 + int(found[2]) <= 3 * 60, "counted in quarters of an hour"
    dots = lena.get(f"{PATH}?range=24h").node("confirm").all("circle", "open")
    assert len(dots) == 2


def test_what_began_just_now_is_not_said_to_be_older(stage: Stage, lena: Browser) -> None:
    stage.cancel(stage.begin("order-1"))
    stage.unknown("order-2")
    tallies.fold()
    page = lena.get(PATH)
    assert page.node("fig-oldest").text == "Oldest unknown under 15 min"
    assert page.node("fig-confirm").text.startswith("Time to confirm, median not reached yet")
    assert [row[2:5] for row in table(page, "systems")] == [["under 15 min", *["not reached yet"] * 2]]


def test_a_bar_leads_to_the_list_that_it_counts(stage: Stage, lena: Browser) -> None:
    for n, hours in enumerate((0, 0, 2, 30)):
        stage.ago = timedelta(hours=hours)
        stage.unknown(f"order-{n}")
    stage.ago = timedelta(0)
    links = {
        node["aria-label"]: node["href"] for node in lena.get(PATH).node("age").all("a") if node["aria-label"]
    }
    assert list(links) == ["under 5 min: 2 jobs", "1 h to 4 h: 1 job", "24 h and more: 1 job"]
    for label, url in links.items():
        shown = lena.get(url).node("results").all("tr")
        jobs = [row for row in shown if row["id"].startswith("job-") or row["data-job"]]
        assert len(jobs) == int(label.split(": ")[1].split()[0]), label


def test_late_writes_lead_to_their_list(stage: Stage, lena: Browser) -> None:
    stage.begin("order-1")
    stage("lena", "order-1", "revoke", cause="other")
    stage.report("order-1", 0, "ok", value="x")
    tallies.fold()
    bars = lena.get(PATH).node("refused").all("a")
    (url,) = [bar["href"] for bar in bars if bar["href"].startswith("/late/")]
    assert "order-1" in lena.get(url).text


def test_the_queue_narrows_every_plot(stage: Stage, settled: Callable[..., str], lena: Browser) -> None:
    settled("order-1")
    settled("order-2", queue="shop")
    stage.unknown("order-3", queue="shop")
    tallies.fold()
    assert total(file(lena, "flow"), 1) == 3
    assert total(file(lena, "flow", "?queue=shop"), 1) == 2
    assert total(file(lena, "age", "?queue=mail"), 1) == 0
    assert lena.get(f"{PATH}flow.csv?queue=nothing").status == 404


def test_a_range_that_there_is_not_is_two_weeks(lena: Browser, settled: Callable[..., str]) -> None:
    settled("order-1")
    tallies.fold()
    assert len(file(lena, "flow", "?range=99y")) == 14
    assert len(file(lena, "flow", "?range=24h")) == 24


# -- whom it is for ------------------------------------------------------------
WHOLE = ("backlog", "confirm", "flow", "share", "refused", "systems")


def test_who_sees_single_jobs_sees_no_queue(
    stage: Stage, settled: Callable[..., str], browser_of: Callable[[str], Browser]
) -> None:
    settled("order-1")
    stage.unknown("order-2", owner="customer-1")
    stage.unknown("order-3", owner="customer-2")
    tallies.fold()
    olga = browser_of("olga")
    page = olga.get(PATH)
    assert "no queue as a whole" in page.text
    assert "1 job waits" in page.node("age").text
    for plot in WHOLE:
        assert not page.has(plot), plot
        assert olga.get(f"{PATH}{plot}.csv").status == 404


def test_a_job_that_is_kept_from_somebody_is_not_in_their_counts(
    stage: Stage, settled: Callable[..., str], browser_of: Callable[[str], Browser]
) -> None:
    settled("order-1")
    tallies.fold()
    sam = browser_of("sam")
    assert total(file(sam, "flow"), 1) == 1
    denied = {"tenant": stage.tenant, "user": stage.people["sam"], "action": "view", "effect": "deny"}
    Grant.objects.create(**denied, scope="queue", queue="mail")
    assert file(sam, "flow") == []
    assert "1 queues" in sam.get(PATH).text
    Grant.objects.create(**denied, scope="owner", owner="customer-9")
    assert sam.get(f"{PATH}flow.csv").status == 404


def test_entries_in_doubt_are_for_who_approves(lena: Browser, sam: Browser) -> None:
    assert lena.get(PATH).has("entries")
    assert not sam.get(PATH).has("entries")
    assert sam.get(f"{PATH}entries.csv").status == 404


def test_another_tenant_is_not_counted(stage: Stage, settled: Callable[..., str], lena: Browser) -> None:
    settled("order-1")
    tallies.fold()
    other = Tenant.objects.create(name="other")
    Queue.objects.create(tenant=other, name="mail")
    eve = User.objects.create(tenant=other, name="eve", username="other/eve")
    Grant.objects.create(tenant=other, user=eve, action="view", scope="tenant")
    page = Browser(eve).get(PATH)
    assert "No outcome became unknown" in page.node("flow").text


# -- the file ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("label", ["=1+1", "+1", "-1", "@a", "\tx"])
def test_no_cell_is_a_formula(stage: Stage, settled: Callable[..., str], lena: Browser, label: str) -> None:
    Tool.objects.create(tenant=stage.tenant, name="smtp/2", label=label)
    settled("order-1", steps=[{"label": "A", "tool": "smtp/2"}])
    tallies.fold()
    for plot in ("share", "systems"):
        assert file(lena, plot)[0][0] == f"'{label}"


def test_nobody_is_let_in_without_signing_in() -> None:
    assert Browser().get(PATH).goes_to.startswith("/login/")
    assert Browser().get(f"{PATH}flow.csv").goes_to.startswith("/login/")


def test_no_shape_has_a_style_and_every_drawing_a_name(settled: Callable[..., str], lena: Browser) -> None:
    settled("order-1")
    tallies.fold()
    page = lena.get(PATH)
    assert " style=" not in page.html
    for figure in page.root.all("figure"):
        assert page.node(figure["aria-labelledby"]).text


def test_it_costs_the_same_however_much_there_is(settled: Callable[..., str], lena: Browser) -> None:
    """Nine statements of its own; the session, the reader and the rail ask the rest."""
    lena.get(PATH)
    few = cost(lena, PATH)
    for n in range(4):
        settled(f"order-{n}", ("ok", "rejected")[n % 2], ago=3 + 9 * n)
    tallies.fold()
    assert cost(lena, PATH) == few <= cost(lena, "/help/words/") + 9 + 1
