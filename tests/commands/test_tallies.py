"""What Insights counts: every receipt once, in any number of passes, and alike when it is counted again."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Barrier, Thread
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.db.models import Sum

from runs import settle, tallies
from runs.ledger import clock
from runs.models import Folded, Job, Receipt, Spell, Tally
from runs.seeding import Cast, in_bulk
from tests.races.scene import CONFIRMED, REFUSED, Scene, digest
from tests.support.databases import Database

from .conftest import NOON

At = Callable[[float], None]
HOUR = 3600.0


@pytest.fixture
def scene(real_db: Database, at: At) -> Scene:
    return Scene()


def sums() -> dict[str, int]:
    """What is not 0."""
    found = Tally.objects.aggregate(**{name: Sum(name) for name in tallies.TALLIED})
    return {name: count for name, count in found.items() if count}


def rows() -> tuple[list[Any], list[Any]]:
    places = ("tenant", "queue", "tool", "at")
    return (
        sorted(Tally.objects.values_list(*places, *tallies.TALLIED)),
        sorted(Spell.objects.values_list(*places, "kind", "size", "count")),
    )


def unknown(scene: Scene, job: str = "j") -> None:
    scene.do("submit", job)
    scene.do("claim", job)
    scene.do("reserve", job, claim=1)
    scene.do("report", job, claim=1, ordinal=0, outcome="unknown")


def settled(scene: Scene, job: str = "j", outcome: str = "ok") -> None:
    evidence = CONFIRMED if outcome == "ok" else REFUSED
    scene.do("reconcile", job, who="lena", ordinal=0, outcome=outcome, evidence=evidence)


def test_a_story_is_counted_where_it_began_and_where_it_ended(scene: Scene, at: At) -> None:
    at(10)
    unknown(scene)
    at(0.3 * HOUR)
    scene.do("cancel", who="lena", cause="user_requested", spec_digest=digest())
    at(13 * HOUR)
    settled(scene)
    settle.one_pass()
    quarters = {
        at: n
        for at, *n in Tally.objects.values_list("at", "opened", "closed", "asked", "confirmed", "happened")
    }
    second = NOON + timedelta(minutes=15)
    assert quarters == {
        NOON: [1, 1, 0, 0, 0],
        second: [0, 0, 1, 1, 0],
        NOON + timedelta(hours=13): [0, 0, 0, 0, 1],
    }
    spells = {(s.kind, s.at, s.size): s.count for s in Spell.objects.all()}
    waited, stood = timedelta(hours=12.7), timedelta(seconds=13 * HOUR - 10)
    assert spells == {
        ("confirm", second, tallies.size(waited)): 1,
        ("settle", NOON, tallies.size(stood)): 1,
        ("stood", NOON + timedelta(hours=6), 3): 1,  # 4 to 24 h old then
        ("stood", NOON + timedelta(hours=12), 3): 1,
    }
    assert tallies.seconds(tallies.size(waited)) == pytest.approx(12.7 * HOUR, rel=0.1)


def test_what_was_confirmed_at_once_had_nobody_to_wait_for(scene: Scene) -> None:
    scene.do("submit")
    scene.do("cancel", who="lena", cause="user_requested", spec_digest=digest())
    tallies.fold()
    assert sums() == {"asked": 1, "confirmed": 1}
    assert not Spell.objects.exists()


def test_late_writes_entries_and_conflicts(scene: Scene, at: At) -> None:
    unknown(scene)
    settled(scene, outcome="rejected")
    scene.do("report", claim=1, ordinal=0, outcome="ok", value="x")  # the other outcome: disputed
    scene.do("submit", "k")
    scene.do("claim", "k")
    scene.do("reserve", "k", claim=1)
    scene.do("revoke", "k", who="lena", cause="other")
    scene.do("report", "k", claim=1, ordinal=0, outcome="ok")
    tallies.fold()
    kept = Counter(Receipt.objects.values_list("status", flat=True))
    disputes = sum(
        '"disputed":{"is":true' in detail for detail in Receipt.objects.values_list("detail", flat=True)
    )
    assert kept["fenced"] >= 1
    assert sums()["fenced"] == kept["fenced"]
    assert sums().get("disputed", 0) == disputes
    assert sums()["rejected"] == 1


def test_a_second_pass_adds_nothing(scene: Scene) -> None:
    unknown(scene)
    settle.one_pass()
    first = rows()
    settle.one_pass()
    assert rows() == first
    settled(scene)
    settle.one_pass()
    assert sums() == {"opened": 1, "closed": 1, "happened": 1}


def stood(at: datetime) -> Counter[int]:
    """What was unknown at a moment, by age, read from all receipts one by one."""
    opened: dict[tuple[int | None, int], datetime] = {}
    found = Receipt.objects.filter(at__lte=at, job__isnull=False).order_by("job", "seq")
    for job, detail, when in found.values_list("job_id", "detail", "at"):
        step = json.loads(detail).get("step") or {}
        if step.get("to") == "unknown":
            opened[job, step["ordinal"]] = when
        elif step.get("from") == "unknown" and when < at:
            del opened[job, step["ordinal"]]
    waited = [at - when for when in opened.values() if when < at]
    return Counter(sum(age >= each for each in tallies.AGES) for age in waited)


@pytest.fixture
def seeded(real_db: Database) -> None:
    list(in_bulk(Cast.of("acme"), 400, 5, clock()))


def test_it_is_the_same_in_one_pass_and_in_many_and_again(
    seeded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallies, "BATCH", 7)
    while tallies.fold():
        pass
    piecemeal = rows()
    assert piecemeal[0]
    assert piecemeal[1]
    monkeypatch.undo()
    tallies.recount()
    assert rows() == piecemeal


def test_what_goes_on_is_what_the_jobs_say(seeded: None) -> None:
    tallies.fold(batches=None)
    counted = sums()
    jobs = Job.objects.filter(admitted=True)
    assert counted["opened"] - counted["closed"] == jobs.filter(cur="unknown").count()
    assert counted["asked"] == jobs.exclude(control="run").count()
    assert counted["confirmed"] == jobs.filter(control="acknowledged").count()
    assert counted["asked"] > counted["confirmed"] > 0


def test_the_backlog_of_any_moment_is_what_a_replay_finds(seeded: None) -> None:
    tallies.fold(batches=None)
    now = clock()
    checked = 0
    for mark in list(tallies.marks(now - timedelta(days=29), now))[::9]:
        noted = Counter(
            dict(Spell.objects.filter(kind="stood", at=mark).values_list("size").annotate(Sum("count")))
        )
        for at, opened, closed in Tally.objects.filter(at__lt=mark).values_list("at", "opened", "closed"):
            noted[tallies.age(mark - at)] += opened - closed
        assert +noted == stood(mark), mark
        checked += noted.total()
    assert checked > 100


def test_many_loops_count_once(seeded: None) -> None:
    barrier = Barrier(4)

    def count() -> None:
        barrier.wait(timeout=10)
        tallies.fold(batches=None)
        connection.close()

    threads = [Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tallies.fold(batches=None)
    together = rows()
    tallies.recount()
    assert rows() == together


def test_what_may_still_be_overtaken_is_left_to_the_next_pass(scene: Scene, real_db: Database) -> None:
    """An older transaction may yet commit a receipt that stands before this one."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite's one writer commits in the order of ids")
    with psycopg.connect(real_db.url) as older:
        older.execute("SELECT pg_current_xact_id()")
        unknown(scene)
        tallies.fold()
        assert sums() == {}
    tallies.fold()
    assert sums() == {"opened": 1}


def test_the_page_can_say_up_to_when(scene: Scene, at: At) -> None:
    at(60)
    unknown(scene)
    at(90)
    settle.one_pass()
    assert Folded.objects.get().at == NOON + timedelta(seconds=90)


def test_counting_again_by_hand(scene: Scene, manage: Callable[..., Any]) -> None:
    unknown(scene)
    tallies.fold()
    Tally.objects.update(opened=9)
    assert manage("settle", "--recount").code == 0
    assert sums() == {"opened": 1}
