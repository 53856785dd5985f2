"""The tailer tells of every receipt that any process committed, however late its transaction ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue

import pytest

from runs.live import Nudge
from runs.tail import Tailer
from tests.support.databases import Database
from tests.support.faults import cut_all_but_ours

from .meeting import PATIENCE, Side
from .scene import Scene


@contextmanager
def tailing() -> Iterator["SimpleQueue[Nudge]"]:
    told: SimpleQueue[Nudge] = SimpleQueue()
    tailer = Tailer(told.put)
    tailer.start()
    try:
        yield told
    finally:
        tailer.stop()
        assert tailer._thread is not None
        tailer._thread.join(PATIENCE)


def nudged(told: "SimpleQueue[Nudge]", *wanted: str) -> None:
    """Waits until every wanted job was told of."""
    missing = set(wanted)
    while missing:
        missing.discard(told.get(timeout=PATIENCE).job_id)


def begun(told: "SimpleQueue[Nudge]", scene: Scene) -> None:
    """The tailer's place is known once something that came after its start was told."""
    number = 0
    while True:
        number += 1
        scene.do("submit", f"first-{number}")
        try:
            told.get(timeout=0.2)
        except Empty:
            continue
        return


def test_a_transaction_that_was_long_open_is_told_of(real_db: Database) -> None:
    """Its receipt has the lower id and is committed after the higher one: PostgreSQL alone can do that."""
    scene = Scene()
    with tailing() as told:
        begun(told, scene)
        whole = Side(lambda: scene.do("submit", "whole")).start()
        whole.join()
        slow = Side(lambda: scene.do("submit", "slow"), stop_after=len(whole.statements)).start()
        assert slow.stopped.wait(PATIENCE)
        if real_db.vendor == "sqlite":  # one writer at a time: nothing can come before it
            slow.go.set()
        scene.do("submit", "quick")
        slow.go.set()
        slow.join()
        nudged(told, "quick", "slow")


def test_nothing_is_lost_over_a_cut_connection(real_db: Database) -> None:
    if real_db.vendor == "sqlite":
        pytest.skip("SQLite has no connections to cut")
    scene = Scene()
    with tailing() as told:
        begun(told, scene)
        cut_all_but_ours()
        scene.do("submit", "after")
        nudged(told, "after")
