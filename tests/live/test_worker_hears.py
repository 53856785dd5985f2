"""The SDK on the real server: what is accepted reaches the step that runs, by socket, long before a heartbeat
would; the server is told that it was heard; and a socket that is lost costs time, never the signal.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runs import settle
from runs.worker import (
    AsyncClient,
    AsyncStepContext,
    AsyncWorker,
    Client,
    Ended,
    Happened,
    How,
    StepContext,
    Timing,
    Worker,
    cause_of,
)
from tests.board.cast import Stage
from tests.races.meeting import wait_until
from tests.support.server import Served

from .conftest import PATIENCE

QUIET = Timing(heartbeat=500, ttl=600)  #: no heartbeat of its own comes while a test lasts


class Run:
    """A worker on `order-1` in a thread, whose first step waits for `go`, a stop or an abort."""

    def __init__(self, client: Client, timing: Timing = QUIET, abort: bool = False) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.step: StepContext | None = None
        self.ended: Ended | None = None
        self.abort = abort
        self.worker = Worker(client, name="worker-1", tools={"": self.tool}, timing=timing)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        assert self.begun.wait(PATIENCE)

    def run(self) -> None:
        self.ended = self.worker.run("order-1")

    def tool(self, step: StepContext) -> Happened:
        self.step = step
        step.cancel.on_cancel(lambda cause: None if self.abort else self.go.set())
        self.begun.set()
        assert step.cancel.wait_abort(PATIENCE) if self.abort else self.go.wait(PATIENCE)
        return Happened("250 queued")

    def end(self) -> Ended:
        self.thread.join(PATIENCE)
        assert self.ended is not None
        return self.ended


@pytest.fixture
def client(served: Served, token: str) -> Iterator[Client]:
    with Client(served.url, token) as client:
        yield client


def until(stage: Stage, what: Callable[[Any], bool]) -> None:
    """Waits until the job's row says so."""
    for _ in range(1000):
        if what(stage.row("order-1")):
            return
        threading.Event().wait(0.02)
    raise AssertionError("it did not come to that")


def test_a_cancel_reaches_the_running_step_and_is_said_to_be_heard(stage: Stage, client: Client) -> None:
    stage.submit("order-1")
    run = Run(client)
    seq = stage.cancel("order-1").receipt["seq"]  # type: ignore[index]
    ended = run.end()
    assert ended.cause is not None
    assert (ended.how, ended.cause.code) == (How.CANCELLED, "user_requested")
    row = stage.row("order-1")
    assert (row.control, row.result, row.position, row.heard_seq) == ("acknowledged", "open", 1, seq)


def test_a_stop_becomes_an_abort_after_its_grace(stage: Stage, client: Client) -> None:
    stage.submit("order-1")
    run = Run(client, abort=True)
    stage.cancel("order-1", grace_seconds=0)
    until(stage, lambda row: row.heard_seq == row.cancel_seq)
    assert run.step is not None
    assert (run.step.cancel.cancelled, run.step.cancel.aborted) == (True, False)
    settle.one_pass()
    assert run.end().how is How.CANCELLED
    assert run.step.cancel.aborted
    signal = run.step.cancel.signal
    assert signal is not None
    assert signal.original_cause is not None
    assert (signal.cause.code, signal.original_cause.code) == ("settle_drain_timeout", "user_requested")
    assert cause_of(run.step.cancel) == signal.original_cause
    row = stage.row("order-1")
    assert row.heard_seq == row.escalated_seq


def test_a_revoked_claim_is_known_at_once(stage: Stage, client: Client) -> None:
    stage.submit("order-1")
    run = Run(client)
    stage("lena", "order-1", "revoke", cause="killed_by_planner")
    ended = run.end()
    assert run.step is not None
    assert run.step.cancel.lost
    assert (ended.how, ended.cause and ended.cause.code) == (How.LOST, "killed_by_planner")


def test_a_socket_that_is_lost_cancels_nothing_and_costs_only_time(
    stage: Stage, served: Served, token: str
) -> None:
    """The step runs on, and is told by the next socket or heartbeat."""
    stage.submit("order-1")
    with Client(served.url, token) as client:
        run = Run(client, Timing(heartbeat=0.5, ttl=600))
        wait_until(lambda: client.ears._socket is not None)
        client.ears._socket.close()  # type: ignore[union-attr]
        assert run.step is not None
        assert not run.step.cancel.wait(1.5)
        assert stage.row("order-1").control == "run"
        stage.cancel("order-1")
        assert run.end().how is How.CANCELLED


def test_a_step_on_an_event_loop_hears_by_the_socket_too(stage: Stage, served: Served, token: str) -> None:
    stage.submit("order-1")

    async def tool(step: AsyncStepContext) -> Happened:
        await asyncio.to_thread(stage.cancel, "order-1")
        return Happened((await step.cancel).code)

    async def story() -> Ended:
        async with AsyncClient(served.url, token) as client, asyncio.timeout(PATIENCE):
            return await AsyncWorker(client, name="worker-1", tools={"": tool}, timing=QUIET).run("order-1")

    assert asyncio.run(story()).how is How.CANCELLED
    row = stage.row("order-1")
    assert (row.control, row.position, row.heard_seq) == ("acknowledged", 1, row.cancel_seq)
