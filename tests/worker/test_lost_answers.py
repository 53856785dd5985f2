"""Whatever is lost on the line: no effect twice, and every outcome arrives (docs/protocol.md, 3 and 4)."""

import threading
from typing import Any

import pytest

from runs.worker import Happened, How, Refused, StepContext, Stopped

from .conftest import QUIET, MakeWorker, Receiver, Server, Submit
from .web import FAULTS, LOST_ANSWER, LOST_REQUEST, Line


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("command", ["job", "reserve", "dispatch", "report"])
def test_a_fault_on_any_command_changes_nothing_that_happens(
    command: str, fault: Any, submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    job = submit("marked", steps=3)
    line.break_next(command, fault, None, fault, fault)
    ended = worker(receiver.tool).run(job.id)
    assert (ended.how, ended.result) == (How.FINISHED, "succeeded")
    assert receiver.targets == ["0@example.test", "1@example.test", "2@example.test"]
    assert job.states() == [("ok", f"250 queued {n}") for n in range(3)]
    assert not all(one.arrived for one in line.seen(command))


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("command", ["reserve", "report"])
def test_an_unmarked_job_likewise(
    command: str, fault: Any, submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    job = submit("unmarked", steps=3)
    line.break_next(command, fault, None, fault, fault)
    assert worker(receiver.tool).run(job.id).result == "succeeded"
    assert receiver.targets == ["0@example.test", "1@example.test", "2@example.test"]
    assert job.states() == [("ok", f"250 queued {n}") for n in range(3)]


def test_a_report_keeps_its_event_id_through_every_try(
    submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    job = submit(steps=2)
    line.break_next("report", LOST_ANSWER, LOST_REQUEST, LOST_ANSWER)
    worker(receiver.tool).run(job.id)
    first, second = line.seen("report")[:4], line.seen("report")[4:]
    assert all(one.body == first[0].body for one in first)
    assert [one.body["ordinal"] for one in second] == [1]
    assert second[0].body["event_id"] != first[0].body["event_id"]


def test_a_reservation_keeps_its_attempt_through_every_try_and_no_longer(
    submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    job = submit("marked", steps=2)
    line.break_next("reserve", LOST_ANSWER, LOST_ANSWER)
    line.break_next("dispatch", LOST_ANSWER)
    worker(receiver.tool).run(job.id)
    attempts = [one.body["attempt"] for one in line.seen("reserve")]
    assert attempts[0] == attempts[1] == attempts[2]
    assert attempts[3] != attempts[0]
    assert {one.body["attempt"] for one in line.seen("dispatch")} == {attempts[0], attempts[3]}


@pytest.mark.parametrize("dispatch", ["marked", "unmarked"])
def test_a_reserve_that_comes_late_and_takes_the_next_step_does_not_strand_it(
    dispatch: str, submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    """Given up for lost, sent again, served; then the first one arrives and reserves the next step too."""
    job = submit(dispatch, steps=3)
    line.break_next("reserve", LOST_REQUEST)
    line.break_next("report", None, then=lambda: line.deliver_late("reserve"))
    assert worker(receiver.tool).run(job.id).result == "succeeded"
    assert receiver.targets == ["0@example.test", "1@example.test", "2@example.test"]
    statuses = [one.status for one in line.seen("reserve")]
    assert statuses == ["", "reserved", "inflight", "reserved", "reserved"]


def test_a_lost_claim_answer_waits_for_the_lease_to_end(
    submit: Submit, worker: MakeWorker, line: Line, server: Server, receiver: Receiver, aside: Any
) -> None:
    job = submit()
    line.break_next("claim", LOST_ANSWER)
    ended = aside(lambda: worker(receiver.tool).run(job.id))
    line.wait_for("claim", "claim_held", times=2)
    assert not line.seen("reserve")
    server.lapse(job.id)
    assert ended().result == "succeeded"
    assert job.now()["claim"]["fence"] == 2


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_lost_release_is_replayed(fault: Any, submit: Submit, worker: MakeWorker, line: Line) -> None:
    def stops(step: StepContext) -> Happened:
        raise Stopped("not today")

    job = submit("marked")
    line.break_next("release", fault, fault)
    assert worker(stops).run(job.id).how is How.STOPPED
    assert job.states()[0] == ("pending", None)
    assert len({one.body["event_id"] for one in line.seen("release")}) == 1


def test_a_lost_rejection_arrives(submit: Submit, worker: MakeWorker, line: Line) -> None:
    def refuses(step: StepContext) -> Happened:
        raise Refused("no such mailbox")

    job = submit()
    line.break_next("report", LOST_ANSWER, LOST_REQUEST)
    ended = worker(refuses).run(job.id)
    assert (ended.how, ended.result) == (How.FINISHED, "failed")
    assert job.states()[0][0] == "rejected"
    assert line.seen("report")[-1].body["evidence"] == {"kind": "worker_refused", "text": "no such mailbox"}


def test_a_dispatch_that_was_refused_unheard_sends_nothing(
    submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    """The answer `cancelled` is lost, and the step is pending by then: the next try is `not_reserved`."""
    job = submit("marked")
    line.break_next("reserve", None, then=job.cancel)
    line.break_next("dispatch", LOST_ANSWER)
    ended = worker(receiver.tool, QUIET).run(job.id)
    assert (ended.how, ended.cause and ended.cause.code) == (How.CANCELLED, "user_requested")
    assert receiver.keys == []
    assert [one.status for one in line.seen("dispatch")] == ["cancelled", "not_reserved"]
    assert job.now()["control"] == "acknowledged"


def test_the_server_restarts_while_an_effect_is_out(
    submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    """Connections are cut and refused; the outcome waits, and arrives when the server is back."""
    back = threading.Timer(0.3, line.up)

    def tool(step: StepContext) -> Happened:
        step.dispatch()
        value = receiver.take(step)
        if step.ordinal == 0:
            line.down()
            back.start()
        return Happened(value)

    job = submit("marked", steps=3)
    assert worker(tool).run(job.id).result == "succeeded"
    back.join()
    assert receiver.nothing_twice
    assert job.states() == [("ok", f"250 queued {n}") for n in range(3)]
    assert any("Connect" in record.getMessage() for record in caplog.records), "nothing was refused"


@pytest.mark.parametrize("command", ["reserve", "dispatch", "report"])
def test_the_server_restarts_with_an_answer_in_its_hands(
    command: str, submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    back = threading.Timer(0.2, line.up)

    def restart() -> None:
        line.down()
        back.start()

    job = submit("marked", steps=3)
    line.break_next(command, LOST_ANSWER, then=restart)
    assert worker(receiver.tool).run(job.id).result == "succeeded"
    back.join()
    assert receiver.nothing_twice
    assert job.states() == [("ok", f"250 queued {n}") for n in range(3)]
