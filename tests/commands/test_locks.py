"""What a command reads and locks, in which order, and who waits for whom (PROTOCOL section 4)."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from runs import ledger
from tests.races.meeting import LOCKS, WAITING, Side, wait_until
from tests.races.pairs import Lose, a_child, asks, cancel, nothing, out, report, submitted
from tests.races.scene import Scene, spec, told
from tests.support.databases import Database

Work = Callable[[Scene], Any]


seal = asks("seal", None, event_id="s", generation=0)
#: Who decides, what would overtake it, and the story before: each waits for the other.
MEETINGS: dict[str, tuple[Work, Work, Work]] = {
    "submit, seal": (asks("submit"), seal, nothing),
    "tombstone, seal": (cancel("a", spec=spec()), seal, nothing),
    "cancel, its right is taken away": (cancel("a"), Lose("cancel"), submitted()),
    "report, its right is taken away": (report("r"), Lose("execute"), out()),
}


def stuck_or_ended(side: Side) -> bool:
    """SQLite does not tell who waits: there it is enough that it has asked, and a moment has passed."""
    if side.ended.wait(0.01):
        return True
    if connection.vendor == "sqlite":
        return side.asked.is_set() and (side.ended.wait(0.1) or True)
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return bool(cursor.fetchone()[0])


@pytest.mark.parametrize("name", MEETINGS)
@pytest.mark.parametrize("turned", [False, True])
def test_neither_is_overtaken(real_db: Database, name: str, turned: bool) -> None:
    """What has returned counts for everybody from then on: so it waits for what is under way, and what comes
    later waits for it. A serial order of the two would hide that."""
    one, other, story = MEETINGS[name]
    first, second = (other, one) if turned else (one, other)
    scene = told(story)
    alone = Side(partial(first, scene)).start()
    alone.join()
    for stop in alone.stops:
        scene = told(story)
        begun = Side(partial(first, scene), stop).start()
        assert begun.stopped.wait(60)
        waiting = Side(partial(second, scene)).start()
        wait_until(partial(stuck_or_ended, waiting))
        overtook = waiting.ended.is_set()
        begun.go.set()
        begun.join()
        waiting.join()
        assert not overtook, f"stopped after {begun.statements[stop - 1][:60]}"


#: The story, a command, and another one that does not wait for anything but the row that the first has locked
#: (a child's report would, for its parent's).
HELD: dict[str, tuple[Work, Work, Work]] = {
    "the job": (submitted(), asks("pause"), cancel("a")),
    "all below, in a cascade": (a_child, cancel("a", "p", cascade=True), asks("pause")),
}


@pytest.mark.parametrize("held", HELD)
def test_what_is_decided_on_is_held_from_the_decision_on(real_db: Database, held: str) -> None:
    """What was decided about a job is still so when it is written."""
    story, first, second = HELD[held]
    scene = told(story)
    alone = Side(partial(first, scene)).start()
    alone.join()
    locked = max(n for n, sql in enumerate(alone.statements, 1) if LOCKS.match(sql))
    scene = told(story)
    begun = Side(partial(first, scene), locked).start()
    assert begun.stopped.wait(60)
    waiting = Side(partial(second, scene)).start()
    wait_until(partial(stuck_or_ended, waiting))
    overtook = waiting.ended.is_set()
    begun.go.set()
    begun.join()
    waiting.join()
    assert not overtook


@pytest.mark.parametrize("job_id", ["j", "child"])
def test_clock_and_rights_are_read_once_everything_is_locked(
    scene: Scene, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A time or a right that was read before a wait for a lock is an old one."""
    scene.do("submit", "j")
    read_after: list[int] = []
    real = ledger.clock

    def clock(read: datetime | None = None) -> datetime:
        read_after.append(len(asked.captured_queries))
        return real(read)

    with CaptureQueriesContext(connection) as asked, monkeypatch.context() as patch:
        patch.setattr(ledger, "clock", clock)
        scene.do(*(("pause", "j") if job_id == "j" else ("submit", "child")), **CHILD[job_id])
    said = [query["sql"] for query in asked.captured_queries]
    locked = max(n for n, sql in enumerate(said) if sql.startswith("SELECT") and 'FROM "runs_job"' in sql)
    rights = [n for n, sql in enumerate(said) if '"runs_grant"' in sql]
    assert [after > locked for after in read_after] == [True]
    assert rights
    assert min(rights) > locked


CHILD: dict[str, dict[str, Any]] = {"j": {}, "child": {"spec": spec(parent="j")}}


def test_a_command_inside_a_transaction_is_a_mistake(real_db: Database) -> None:
    """Its answer would leave before its commit, which the outer one may still take back."""
    scene = Scene()
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"):
        scene.do("submit")
