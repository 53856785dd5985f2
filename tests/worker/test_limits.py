"""Where a worker stops by itself: time limits, a shutdown, a token of its caller. Nothing is told of a cancel
that nobody asked for, and nothing new is started."""

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial

from runs.worker import CancelToken, Cause, Happened, How, StepContext, causes

from .conftest import QUIET, Aside, MakeWorker, Receiver, Server, Submit
from .web import LOST_ANSWER, Line

GOAL = Cause("goal_met", "Goal met", "Enough was found.")


def test_a_step_past_its_limit_is_told_and_the_run_ends(
    submit: Submit, worker: MakeWorker, receiver: Receiver, line: Line
) -> None:
    def tool(step: StepContext) -> Happened:
        assert step.cancel.wait(20)
        return receiver.tool(step)

    job = submit("marked")
    ended = worker(tool, replace(QUIET, step=0.05)).run(job.id)
    assert (ended.how, ended.cause) == (How.STOPPED, causes.DEADLINE_EXCEEDED)
    assert receiver.keys == []
    assert not line.seen("dispatch")
    assert job.states() == [("pending", None), ("pending", None)]
    assert job.now()["control"] == "run"


def test_a_step_that_is_finished_past_its_limit_is_kept_and_the_next_has_its_own(
    submit: Submit, worker: MakeWorker, receiver: Receiver
) -> None:
    def tool(step: StepContext) -> Happened:
        step.dispatch()
        value = receiver.take(step)
        assert step.cancel.wait(20)
        return Happened(value)

    job = submit("marked")
    ended = worker(tool, replace(QUIET, step=0.05)).run(job.id)
    assert (ended.how, ended.result) == (How.FINISHED, "succeeded")
    assert len(receiver.keys) == 2


def test_a_run_past_its_limit_keeps_what_happened_and_begins_nothing_more(
    submit: Submit, worker: MakeWorker, receiver: Receiver, line: Line
) -> None:
    def tool(step: StepContext) -> Happened:
        step.dispatch()
        value = receiver.take(step)
        assert step.cancel.wait(20)
        assert step.cancel.wait_abort(20), "the grace did not end"
        return Happened(value)

    job = submit(steps=3)
    ended = worker(tool, replace(QUIET, run=1.5, grace=0.05)).run(job.id)
    assert (ended.how, ended.cause) == (How.STOPPED, causes.RUN_HARD_TIMEOUT)
    assert job.states() == [("ok", "250 queued 0"), ("pending", None), ("pending", None)]
    assert len(line.seen("reserve")) == 1
    assert job.now()["control"] == "run"


def test_a_drain_ends_every_run_and_those_to_come(
    submit: Submit, worker: MakeWorker, receiver: Receiver, aside: Aside, line: Line
) -> None:
    out = threading.Barrier(3, timeout=20)

    def tool(step: StepContext) -> Happened:
        value = receiver.take(step)
        out.wait()
        assert step.cancel.wait(20)
        return Happened(value)

    one = worker(tool, QUIET)
    jobs = [submit(), submit()]
    runs = [aside(partial(one.run, job.id)) for job in jobs]
    out.wait()
    one.shutdown()
    for job, ended in zip(jobs, runs, strict=True):
        assert (ended().how, ended().cause) == (How.STOPPED, causes.SHUTDOWN)
        assert [state for state, _ in job.states()] == ["ok", "pending"]
    claims = len(line.seen("claim"))
    assert one.draining
    assert one.run(submit().id).how is How.STOPPED
    assert len(line.seen("claim")) == claims


def test_a_drain_ends_the_waiting_for_a_pause_and_for_a_claim(
    submit: Submit, worker: MakeWorker, receiver: Receiver, aside: Aside, line: Line, server: Server
) -> None:
    one = worker(receiver.tool, replace(QUIET, poll=60))
    paused, held = submit(), submit()
    held.caller.claim(held.id, "other")
    server.staff("pause", paused.id)
    runs = [aside(lambda: one.run(paused.id)), aside(lambda: one.run(held.id))]
    line.wait_for("reserve", "paused")
    line.wait_for("claim", "claim_held")
    one.shutdown()
    assert [ended().how for ended in runs] == [How.STOPPED, How.STOPPED]
    assert receiver.keys == []


def test_a_reservation_that_comes_back_after_the_drain_is_not_begun(
    submit: Submit, worker: MakeWorker, receiver: Receiver, line: Line
) -> None:
    one = worker(receiver.tool, QUIET)
    job = submit("marked")
    line.break_next("reserve", LOST_ANSWER, then=one.shutdown)
    ended = one.run(job.id)
    assert (ended.how, ended.cause) == (How.STOPPED, causes.SHUTDOWN)
    assert receiver.keys == []
    assert [one.status for one in line.seen("release")] == ["released"]


def test_a_cancel_after_the_shutdown_is_confirmed_and_the_first_cause_stands(
    submit: Submit, worker: MakeWorker, receiver: Receiver
) -> None:
    def tool(step: StepContext) -> Happened:
        one.shutdown()
        job.cancel()
        step.dispatch()
        return Happened()

    job = submit("marked")
    one = worker(tool)
    ended = one.run(job.id)
    assert (ended.how, ended.cause) == (How.STOPPED, causes.SHUTDOWN)
    assert job.now()["control"] == "acknowledged"


def test_a_caller_s_token_stops_the_runs_under_it(
    submit: Submit, worker: MakeWorker, receiver: Receiver
) -> None:
    mine = CancelToken()

    def tool(step: StepContext) -> Happened:
        value = receiver.take(step)
        mine.cancel(GOAL)
        assert step.cancel.cause == GOAL
        return Happened(value)

    job = submit(steps=3)
    ended = worker(tool, QUIET).run(job.id, under=mine)
    assert (ended.how, ended.cause) == (How.STOPPED, GOAL)
    assert len(receiver.keys) == 1


PROCESS = """
import sys
from runs.worker import Client, Happened, Timing, Worker

url, token, job_id = sys.argv[1:]

def tool(step):
    print("out", flush=True)
    assert step.cancel.wait(20)
    return Happened(step.cancel.cause.code)

with Client(url, token) as client:
    worker = Worker(client, name="w1", tools={"smtp/2": tool}, socket=False)
    with worker.drain_on():
        ended = worker.run(job_id)
print(ended.how, ended.cause.code, worker.draining, flush=True)
"""


def test_sigterm_drains_a_process(submit: Submit, server: Server) -> None:
    job = submit(steps=2)
    process = subprocess.Popen(
        [sys.executable, "-c", PROCESS, server.url, server.token, job.id], stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "out\n"
        os.kill(process.pid, signal.SIGTERM)
        assert process.stdout.read() == "stopped shutdown True\n"
    assert process.returncode == 0
    assert job.states() == [("ok", "shutdown"), ("pending", None)]
