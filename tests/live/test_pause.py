"""Pause and resume, and a cancel that is passed on, with real workers on the real server."""

from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest

from runs.models import Receipt
from runs.worker import Client, How, Timing
from tests.board.cast import Stage
from tests.support.server import Served

from .conftest import PATIENCE
from .test_worker_hears import Run, until

BRISK = Timing(heartbeat=500, ttl=600, poll=0.05)


class Watched(Client):
    """Sets `paused` when the server has said so to a reserve."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.paused = Event()

    def _perform(self, effect: Any) -> object:
        answer = super()._perform(effect)
        if getattr(answer, "status", "") == "paused":
            self.paused.set()
        return answer


@pytest.fixture
def client(served: Served, token: str) -> Iterator[Watched]:
    with Watched(served.url, token) as client:
        yield client


def test_what_is_out_ends_nothing_more_starts_until_it_is_resumed(stage: Stage, client: Watched) -> None:
    stage.submit("order-1", "Send bill", "Send parcel")
    run = Run(client, BRISK)
    seq = stage("omar", "order-1", "pause", cause="paused_by_user").receipt["seq"]  # type: ignore[index]
    until(stage, lambda row: row.heard_seq == seq)
    assert run.step is not None
    assert run.step.cancel.paused
    assert not run.step.cancel.cancelled, "a pause is no stop"
    run.go.set()
    assert client.paused.wait(PATIENCE), "it asked for the next step, and was told"
    row = stage.row("order-1")
    assert (row.position, row.cur, row.control) == (1, "pending", "run")
    assert stage.browser("sam").get("/jobs/order-1/").node("verdict-label").text == "Paused"
    resumed = stage("omar", "order-1", "resume").receipt["seq"]  # type: ignore[index]
    assert run.end().how is How.FINISHED
    assert stage.row("order-1").result == "succeeded"
    reserved = list(Receipt.objects.filter(kind="reserve").order_by("seq").values_list("seq", flat=True))
    assert reserved[0] < seq < resumed < reserved[1]


def test_a_cancel_of_the_parent_reaches_the_childs_worker(stage: Stage, client: Watched) -> None:
    stage.submit("top-1", "Run the agent")
    stage.submit("order-1", "Search", "Write", parent="top-1")
    run = Run(client)
    stage.cancel("top-1", cascade=True)
    ended = run.end()
    assert ended.cause is not None
    assert (ended.how, ended.cause.code) == (How.CANCELLED, "parent_cancelled")
    child, top = stage.row("order-1"), stage.row("top-1")
    assert (child.control, child.position, child.result) == ("acknowledged", 1, "open")
    assert top.control == "acknowledged", "and so is its parent's"
