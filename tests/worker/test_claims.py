"""Claims: held, lost, taken over, and a worker that comes back after a crash (docs/protocol.md, 4 and 5)."""

import json
import threading
from functools import partial
from uuid import uuid4

import pytest

from runs.worker import Client, Happened, How, Problem, StepContext, Timing, UnknownTool, Worker

from .conftest import QUIET, Aside, MakeWorker, Receiver, Server, Submit, beats
from .web import LOST_ANSWER, Fault, Line, Reply


class Killed(BaseException):
    """Stands for SIGKILL: nothing after it is done by the worker."""


def test_a_lost_claim_reaches_the_step_and_its_late_result_is_kept_as_testimony(
    submit: Submit, worker: MakeWorker, server: Server, receiver: Receiver, line: Line
) -> None:
    def tool(step: StepContext) -> Happened:
        value = receiver.take(step)
        server.staff("revoke", job.id, cause="operator_requested")
        assert step.cancel.wait(20)
        assert step.cancel.lost
        assert step.cancel.cause is not None
        assert step.cancel.cause.code == "operator_requested"
        return Happened(value)

    job = submit(steps=2)
    ended = worker(tool).run(job.id)
    assert (ended.how, ended.cause and ended.cause.code) == (How.LOST, "operator_requested")
    step = job.now()["steps"][0]
    assert step["state"] == "unknown"
    assert [(said["outcome"], said["value"]) for said in step["testimony"]] == [("ok", "250 queued 0")]
    assert receiver.targets == ["0@example.test"]


@pytest.mark.parametrize("dispatch", ["marked", "unmarked"])
def test_a_step_that_stops_for_a_lost_claim_settles_nothing(
    dispatch: str, submit: Submit, worker: MakeWorker, server: Server, line: Line
) -> None:
    def tool(step: StepContext) -> Happened:
        step.dispatch()
        server.staff("revoke", job.id)
        assert step.cancel.wait(20)
        step.cancel.raise_if_cancelled()
        return Happened()

    job = submit(dispatch)
    assert worker(tool).run(job.id).how is How.LOST
    assert not line.seen("report")
    assert not line.seen("release")
    assert job.states()[0] == ("unknown", None)


def test_a_stale_worker_does_not_get_past_dispatch(
    submit: Submit, worker: MakeWorker, server: Server, line: Line, receiver: Receiver
) -> None:
    job = submit("marked")
    revoke = partial(server.staff, "revoke", job.id, cause="operator_requested")
    line.break_next("reserve", None, then=revoke)
    ended = worker(receiver.tool, QUIET).run(job.id)
    assert (ended.how, ended.cause and ended.cause.code) == (How.LOST, "operator_requested")
    assert receiver.keys == []
    assert job.states()[0] == ("pending", None)
    assert not line.seen("report")


def test_a_report_that_was_already_too_late_is_told_and_the_run_is_lost(
    submit: Submit, worker: MakeWorker, server: Server, line: Line, receiver: Receiver
) -> None:
    def tool(step: StepContext) -> Happened:
        value = receiver.take(step)
        server.staff("revoke", job.id)
        return Happened(value)

    job = submit()
    line.break_next("report", LOST_ANSWER)
    assert worker(tool, QUIET).run(job.id).how is How.LOST
    assert [one.status for one in line.seen("report")] == ["fenced", "fenced"]
    assert len(job.now()["steps"][0]["testimony"]) == 1


def test_after_a_crash_mid_send_an_unmarked_step_is_not_sent_again(
    submit: Submit, worker: MakeWorker, server: Server, receiver: Receiver
) -> None:
    def dies(step: StepContext) -> Happened:
        receiver.take(step)
        raise Killed

    job = submit()
    with pytest.raises(Killed):
        worker(dies).run(job.id)
    server.lapse(job.id)
    ended = worker(receiver.tool).run(job.id)
    assert (ended.how, ended.ordinal) == (How.UNKNOWN, 0)
    assert len(receiver.keys) == 1
    assert job.states()[0] == ("unknown", None)


def test_after_a_crash_past_dispatch_a_marked_step_is_not_sent_again(
    submit: Submit, worker: MakeWorker, server: Server, receiver: Receiver
) -> None:
    def dies(step: StepContext) -> Happened:
        step.dispatch()
        raise Killed

    job = submit("marked")
    with pytest.raises(Killed):
        worker(dies).run(job.id)
    server.lapse(job.id)
    ended = worker(receiver.tool).run(job.id)
    assert (ended.how, ended.ordinal) == (How.UNKNOWN, 0)
    assert receiver.keys == []


def test_after_a_crash_before_dispatch_a_marked_step_is_sent_once(
    submit: Submit, worker: MakeWorker, server: Server, receiver: Receiver
) -> None:
    def dies(step: StepContext) -> Happened:
        raise Killed

    job = submit("marked")
    with pytest.raises(Killed):
        worker(dies).run(job.id)
    server.lapse(job.id)
    assert worker(receiver.tool).run(job.id).result == "succeeded"
    assert receiver.targets == ["0@example.test", "1@example.test"]


def test_a_step_that_is_out_already_is_a_clue_not_a_permission(
    submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    out = {"status": "inflight", "ordinal": 0, "dispatched": False}
    line.break_next("reserve", Fault(False, Reply(200, {}, json.dumps(out).encode())))
    ended = worker(receiver.tool).run(submit().id)
    assert (ended.how, ended.ordinal) == (How.UNKNOWN, 0)
    assert receiver.keys == []


def test_the_second_worker_waits_for_the_dead_one_s_lease(
    submit: Submit,
    worker: MakeWorker,
    server: Server,
    line: Line,
    caller: Client,
    receiver: Receiver,
    aside: Aside,
) -> None:
    job = submit()
    caller.claim(job.id, "dead", ttl_seconds=60)
    ended = aside(lambda: worker(receiver.tool).run(job.id))
    line.wait_for("claim", "claim_held", times=3)
    server.lapse(job.id)
    assert ended().result == "succeeded"


def test_a_claim_that_stays_held_is_given_up(
    submit: Submit, worker: MakeWorker, caller: Client, receiver: Receiver
) -> None:
    job = submit()
    caller.claim(job.id, "other")
    timing = Timing(heartbeat=0.05, ttl=60, poll=0.02, claim_wait=0.1)
    assert worker(receiver.tool, timing).run(job.id).how is How.HELD
    assert receiver.keys == []


def test_heartbeats_renew_the_lease_and_end_with_the_run(
    submit: Submit, worker: MakeWorker, line: Line, caller: Client, server: Server
) -> None:
    def tool(step: StepContext) -> Happened:
        server.lapse(job.id)
        assert not job.now()["claim"]["live"]
        line.wait_for("heartbeat", "ok", times=len(line.seen("heartbeat")) + 2)
        assert job.now()["claim"]["live"]
        assert beats(job)
        return Happened()

    job = submit("marked", steps=1)
    before = threading.active_count()
    worker(tool).run(job.id)
    assert not beats(job)
    assert threading.active_count() <= before + 2  # the line's own, for two connections


@pytest.mark.parametrize("error", [Killed, KeyboardInterrupt])
def test_heartbeats_end_when_the_step_goes_down(
    error: type[BaseException], submit: Submit, worker: MakeWorker, line: Line
) -> None:
    def tool(step: StepContext) -> Happened:
        line.wait_for("heartbeat", "ok")
        raise error

    job = submit()
    with pytest.raises(error):
        worker(tool).run(job.id)
    assert not beats(job)


def test_many_jobs_at_once_leave_no_thread(
    submit: Submit, worker: MakeWorker, receiver: Receiver, aside: Aside
) -> None:
    jobs = [submit() for _ in range(6)]
    one = worker(receiver.tool)
    runs = [aside(partial(one.run, job.id)) for job in jobs]
    assert [ended().result for ended in runs] == ["succeeded"] * 6
    assert receiver.nothing_twice
    assert len(receiver.keys) == 12
    assert not any(beats(job) for job in jobs)


def test_a_tombstone_is_not_worked_on(worker: MakeWorker, caller: Client, receiver: Receiver) -> None:
    job_id = f"never-{uuid4().hex}"
    spec = {"queue": "mail", "steps": [{"label": "Mail", "tool": "smtp/2"}]}
    assert caller.cancel(job_id, spec=spec).status == "tombstoned"
    assert worker(receiver.tool).run(job_id).how is How.NOT_ADMITTED
    assert caller.submit(job_id, spec).status == "blocked_cancelled"


def test_a_job_that_is_over_is_closed(submit: Submit, worker: MakeWorker, receiver: Receiver) -> None:
    job = submit()
    job.cancel()
    assert worker(receiver.tool).run(job.id).how is How.CLOSED
    assert receiver.keys == []


def test_a_step_without_a_function_is_noticed_before_anything_is_claimed(
    submit: Submit, line: Line, server: Server, receiver: Receiver
) -> None:
    job = submit()
    with Client(line.url, server.token) as client, pytest.raises(UnknownTool, match="smtp/2"):
        Worker(client, name="w1", tools={"ledger/1": receiver.tool}).run(job.id)
    assert job.now()["claim"] is None
    assert not line.seen("claim")


def test_a_token_that_is_refused_ends_the_run(submit: Submit, line: Line, receiver: Receiver) -> None:
    job = submit()
    with Client(line.url, "cb_abcdefgh_wrong") as client, pytest.raises(Problem) as raised:
        Worker(client, name="w1", tools={"smtp/2": receiver.tool}).run(job.id)
    assert raised.value.status == 401
    assert receiver.keys == []
