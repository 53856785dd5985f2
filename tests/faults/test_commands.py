"""A database that fails under a command: it is carried out once, or not at all and 503; never half."""

import json
import random
from collections import Counter
from collections.abc import Callable
from itertools import count
from queue import SimpleQueue
from threading import Event
from typing import Any

import pytest
from django.db import OperationalError, connection

from runs import settle
from runs.audit import breaches, snapshot
from runs.commands import spine
from runs.errors import Busy
from runs.models import Job
from tests.races.meeting import PATIENCE, Side, wait_until
from tests.races.pairs import (
    TWO,
    Work,
    a_child,
    asks,
    cancel,
    claimed,
    nothing,
    out,
    proposed,
    reconcile,
    report,
    submitted,
    then,
)
from tests.races.scene import Scene, spec, told
from tests.support.databases import Database
from tests.support.faults import another_connection, cut_all_but_ours, cut_before, lost_after_commit
from tests.support.scale import scale

COMMANDS: dict[str, tuple[Work, Work]] = {
    "submit": (nothing, asks("submit")),
    "a tombstone": (nothing, cancel("a", spec=spec())),
    "cancel": (submitted(), cancel("a")),
    "reserve": (claimed, asks("reserve", claim=1, attempt="a")),
    "dispatch": (out(dispatch="marked"), asks("dispatch", claim=1, ordinal=0, attempt="a1")),
    "a child's last report": (then(a_child, cancel("a", "p")), report("r")),
    "reconcile": (out(ttl_seconds=5), reconcile("c")),
    "approve": (proposed, asks("approve", who="lena", event_id="y", proposal=0)),
    "seal": (nothing, asks("seal", None, event_id="s", generation=7)),
}


#: What the same command answers when it was carried out, and its answer got lost.
AGAIN = dict.fromkeys(COMMANDS, "replayed") | {"submit": "existing"}


def kept(scene: Scene) -> dict[str, Any]:
    """But for how often an event id came again."""
    settle.one_pass()  # what an ancestor's checkpoint left behind
    seen: dict[str, Any] = json.loads(scene.seen())
    return {"jobs": seen["jobs"], "receipts": seen["receipts"]}


def undisturbed(story: Work, work: Work) -> tuple[str, dict[str, Any]]:
    scene = told(story)
    return work(scene), kept(scene)


@pytest.mark.prove
@pytest.mark.parametrize(("story", "work"), COMMANDS.values(), ids=COMMANDS)
def test_a_connection_that_is_cut_at_any_statement(real_db: Database, story: Work, work: Work) -> None:
    expected = undisturbed(story, work)
    stride = scale(3, 1)
    for number in count(random.randint(1, stride), stride):
        scene = told(story)
        with cut_before(number) as executed:
            answer = work(scene)
        if number > len(executed):
            break
        connection.close_if_unusable_or_obsolete()  # as the end of a request would
        assert (answer, kept(scene)) == expected, f"cut before {executed[number - 1]}"
    with snapshot():
        assert list(breaches()) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_answer_to_a_commit_is_lost(real_db: Database, name: str) -> None:
    story, work = COMMANDS[name]
    answer, seen = undisturbed(story, work)
    scene = told(story)
    with lost_after_commit():
        again = work(scene)
    assert kept(scene) == seen
    if AGAIN[name] == "replayed":
        assert again == answer.replace('"replayed": false', '"replayed": true')
    else:
        assert f'"status": "{AGAIN[name]}"' in again


def test_a_lock_that_does_not_come_is_503_and_the_command_can_be_sent_again(
    real_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = told(submitted())
    impatient(monkeypatch)
    holder = Side(lambda: scene.do("pause"), stop_after=4).start()
    assert holder.stopped.wait(PATIENCE)
    with pytest.raises(Busy):
        scene.do("cancel", event_id="a", spec_digest=TWO)
    holder.go.set()
    assert holder.join().status == "paused"
    assert scene.do("cancel", event_id="a", spec_digest=TWO).status == "requested"


def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks are waited for a fifth of a second, in this thread too."""
    connection.close()
    options = dict(connection.settings_dict["OPTIONS"])
    if connection.vendor == "sqlite":
        options["timeout"] = 0.2
    else:
        connection.close_pool()
        options["options"] = options["options"].replace("lock_timeout=5s", "lock_timeout=200ms")
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", options)
    monkeypatch.setattr(spine, "PATIENCE", 0.5)


def test_a_database_that_only_reads_is_503(real_db: Database) -> None:
    """A standby that took over, say; or a file that may not be written."""
    scene = told(submitted())
    with connection.cursor() as cursor:
        cursor.execute(READS_ONLY[real_db.vendor])
    with pytest.raises(Busy):
        while_connected(lambda: scene.do("cancel", spec_digest=TWO))


READS_ONLY = {"sqlite": "PRAGMA query_only = on", "postgresql": "SET default_transaction_read_only = on"}


def while_connected(work: Callable[[], Any]) -> Any:
    """The connection stays as it is between the tries."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "close_if_unusable_or_obsolete", lambda: None)
        return work()


def test_a_process_that_slept_in_its_transaction_tries_again(real_db: Database) -> None:
    if real_db.vendor == "sqlite":
        pytest.skip("SQLite ends no transaction by itself")
    scene = told(submitted())

    def work() -> Any:
        with connection.cursor() as cursor:
            cursor.execute("SET idle_in_transaction_session_timeout = 50")
        return scene.do("cancel", spec_digest=TWO).status

    sleeper = Side(work, stop_after=4).start()
    assert sleeper.stopped.wait(PATIENCE)
    with another_connection() as other:
        wait_until(lambda: other.execute(IDLE).fetchone() == (0,))
    sleeper.go.set()
    assert sleeper.join() == "requested"


IDLE = b"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"


def test_an_ancestor_that_fails_changes_nothing_of_the_childs_answer(
    real_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = told(then(a_child, cancel("a", "p")))
    answered = spine.write.confirm_if_settled

    def gone(*_: Any, **__: Any) -> Any:
        raise OperationalError("gone")

    def confirm(at: Any) -> None:  # the child's last step: from here on the database is away
        answered(at)
        monkeypatch.setattr(Job.objects, "values_list", gone)

    monkeypatch.setattr(spine.write, "confirm_if_settled", confirm)
    assert scene.do("report", claim=1, ordinal=0, outcome="ok").status == "settled"
    monkeypatch.undo()
    assert Job.objects.get(tenant=scene.tenant, job_id="p").control == "requested"
    assert settle.one_pass()["acknowledged"] == 1


def test_the_settle_loop_outlives_a_cut_connection(
    real_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    if real_db.vendor == "sqlite":
        pytest.skip("SQLite has no connections to cut")
    stop, passes, one_pass = Event(), SimpleQueue[Counter[str]](), settle.one_pass
    monkeypatch.setattr(settle, "one_pass", lambda asides: passes.put(one_pass(asides)))
    loop = Side(lambda: settle.loop(0.01, stop)).start()
    try:
        passes.get(timeout=PATIENCE)
        cut_all_but_ours()
        told(out(ttl_seconds=60))  # due from now on
        while passes.get(timeout=PATIENCE) != {"lapsed": 1}:
            pass
    finally:
        stop.set()
    loop.join()


def test_a_job_that_fails_does_not_keep_the_others_waiting(
    real_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def two(scene: Scene) -> None:
        for job_id in ("bad", "good"):
            scene.do("submit", job_id)
            scene.do("claim", job_id, ttl_seconds=60)
            scene.do("reserve", job_id, claim=1)

    told(two)

    def failing(actor: Any, job_id: str, ask: Any) -> Any:
        if job_id == "bad":
            raise ValueError("a row that nobody understands")
        return do(actor, job_id, ask)

    do = settle.do
    monkeypatch.setattr(settle, "do", failing)
    assert settle.one_pass() == {"failed": 1, "lapsed": 1}
