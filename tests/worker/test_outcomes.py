"""What a step's function says or raises, and what is told for it (docs/protocol.md, report and release)."""

import json
from uuid import uuid4

import pytest

from runs.worker import (
    AlreadyDispatched,
    Client,
    Evidence,
    Happened,
    How,
    Problem,
    Refused,
    Retry,
    StepContext,
    Stopped,
    Unreachable,
)
from runs.worker.step import fit

from .conftest import QUICK, QUIET, MakeWorker, Receiver, Server, Submit
from .web import LOST_ANSWER, LOST_REQUEST, Fault, Line, Reply


def reported(line: Line) -> list[tuple[str, str]]:
    return [(one.body["outcome"], one.status) for one in line.seen("report")]


@pytest.mark.parametrize(
    "error", [RuntimeError("reset by peer"), Stopped("changed my mind"), StopIteration()]
)
@pytest.mark.parametrize("dispatch", ["marked", "unmarked"])
def test_an_exception_after_it_may_have_been_sent_is_unknown(
    dispatch: str, error: Exception, submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    def tool(step: StepContext) -> Happened:
        step.dispatch()
        receiver.take(step)
        raise error

    job = submit(dispatch)
    ended = worker(tool).run(job.id)
    assert (ended.how, ended.ordinal, ended.error) == (How.UNKNOWN, 0, error)
    assert reported(line) == [("unknown", "unresolved")]
    clue = line.seen("report")[0].body["evidence"]["text"]
    assert str(error) in clue
    assert "before it was sent" not in clue
    assert not line.seen("release")
    assert len(receiver.keys) == 1


@pytest.mark.parametrize("error", [RuntimeError("no template"), Stopped("not today")])
def test_an_exception_before_dispatch_releases_a_marked_step(
    error: Exception, submit: Submit, worker: MakeWorker, line: Line
) -> None:
    def tool(step: StepContext) -> Happened:
        raise error

    job = submit("marked")
    ended = worker(tool).run(job.id)
    assert (ended.how, ended.error) == (How.STOPPED, error)
    assert [one.status for one in line.seen("release")] == ["released"]
    assert reported(line) == []
    assert job.states()[0] == ("pending", None)


def test_the_same_exception_in_an_unmarked_step_is_unknown_never_rejected(
    submit: Submit, worker: MakeWorker, line: Line
) -> None:
    def tool(step: StepContext) -> Happened:
        raise Stopped("not today")

    job = submit()
    assert worker(tool).run(job.id).how is How.UNKNOWN
    assert reported(line) == [("unknown", "unresolved")]
    assert not line.seen("release")


@pytest.mark.parametrize("kind", ["worker_refused", "receiver_refused", "receiver_sealed"])
def test_a_refusal_is_rejected_with_who_refused(
    kind: str, submit: Submit, worker: MakeWorker, line: Line
) -> None:
    def tool(step: StepContext) -> Happened:
        raise Refused("550 no such user\r\n", kind)

    job = submit()
    ended = worker(tool).run(job.id)
    assert (ended.how, ended.result) == (How.FINISHED, "failed")
    assert line.seen("report")[0].body["evidence"] == {"kind": kind, "text": "550 no such user"}


def test_not_found_is_no_refusal(submit: Submit, worker: MakeWorker, line: Line) -> None:
    def tool(step: StepContext) -> Happened:
        raise Refused("looked and saw nothing", "not_found")

    job = submit()
    assert worker(tool).run(job.id).how is How.UNKNOWN
    assert reported(line) == [("unknown", "unresolved")]


def test_a_function_that_says_nothing_is_unknown(submit: Submit, worker: MakeWorker, line: Line) -> None:
    job = submit()
    ended = worker(lambda step: None).run(job.id)
    assert ended.how is How.UNKNOWN
    assert isinstance(ended.error, TypeError)


def test_one_dispatch_permits_one_send(
    submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    """A tool that tries again by itself must not get a second permission out of a replay."""

    def tries_again(step: StepContext) -> Happened:
        step.dispatch()
        receiver.take(step)
        step.dispatch()
        receiver.take(step)
        return Happened()

    job = submit("marked")
    ended = worker(tries_again).run(job.id)
    assert ended.how is How.UNKNOWN
    assert isinstance(ended.error, AlreadyDispatched)
    assert len(receiver.keys) == 1
    assert len(line.seen("dispatch")) == 1


def test_a_permission_that_never_arrives_is_not_used(
    submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    """The mark is set, its answer lost for good: release is `already_dispatched`, so the truth is unknown."""
    job = submit("marked")
    line.break_next("dispatch", LOST_ANSWER, *[LOST_REQUEST] * 200)
    ended = worker(receiver.tool, QUIET, Retry(first=0.01, longest=0.02, give_up=0.5)).run(job.id)
    assert ended.how is How.UNKNOWN
    assert isinstance(ended.error, Unreachable)
    assert receiver.keys == []
    assert [one.status for one in line.seen("release")] == ["already_dispatched"]
    assert "stopped before it was sent" in line.seen("report")[0].body["evidence"]["text"]


def test_an_effect_is_told_even_where_its_evidence_is_not_taken(
    submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    def tool(step: StepContext) -> Happened:
        kind = "seen_by_me" if step.ordinal == 0 else "not_found"
        return Happened(receiver.take(step), Evidence(kind, "250"))  # type: ignore[arg-type]

    job = submit()
    assert worker(tool).run(job.id).result == "succeeded"
    assert receiver.nothing_twice
    assert reported(line) == [("ok", "422"), ("ok", "settled"), ("ok", "not_evidence"), ("ok", "settled")]
    assert job.states() == [("ok", "250 queued 0"), ("ok", "250 queued 1")]


def test_a_value_is_made_to_fit(submit: Submit, worker: MakeWorker, line: Line) -> None:
    job = submit(steps=1)
    assert worker(lambda step: Happened("250 \0queued\r\n" + "é" * 5000)).run(job.id).result == "succeeded"
    value = job.states()[0][1]
    assert value is not None
    assert value.startswith("250  queued \né")
    assert value.endswith("…")
    assert 4090 <= len(value.encode()) <= 4096


@pytest.mark.parametrize(
    ("text", "fitting"),
    [
        ("plain", "plain"),
        ("a\tb\nc", "a\tb\nc"),
        (" \x1b[1m\x85 ", "[1m"),
        ("\ud800", "?"),
        ("x" * 4097, "x" * 4093 + "…"),
    ],
)
def test_fit(text: str, fitting: str) -> None:
    assert fit(text) == fitting


def test_what_was_not_told_is_named(
    submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    """The token dies between effect and report: the run ends with the words that could not be delivered."""
    dead = Fault(
        False,
        Reply(401, {"Content-Type": "application/problem+json"}, b'{"status": 401, "code": "token_dead"}'),
    )
    job = submit()
    line.break_next("report", dead)
    with pytest.raises(Problem, match="token_dead") as raised:
        worker(receiver.tool, QUIET).run(job.id)
    assert f"step 0 of {job.id}: not told: ok 250 queued 0" in raised.value.__notes__


def test_a_denied_heartbeat_cancels_the_token(submit: Submit, worker: MakeWorker, line: Line) -> None:
    """Whoever may not speak for the job, and so cannot be told to stop, starts nothing more for it."""
    denied = Fault(False, Reply(403, {}, b'{"status": 403, "code": "no_grant"}'))

    def tool(step: StepContext) -> Happened:
        line.break_next("heartbeat", denied)
        assert step.cancel.wait(20)
        assert step.cancel.cause is not None
        assert (step.cancel.cause.code, step.cancel.cause.short) == ("other", "403 no_grant")
        step.dispatch()
        return Happened()

    job = submit("marked")
    ended = worker(tool).run(job.id)
    assert (ended.how, ended.cause and ended.cause.code) == (How.STOPPED, "other")
    assert not line.seen("dispatch")


def test_a_heartbeat_that_is_not_understood_cancels_the_token_and_does_not_end(
    submit: Submit, worker: MakeWorker, line: Line
) -> None:
    strange = Fault(True, Reply(200, {}, b'{"status": "ok", "signal": {"volume": 11}}'))

    def tool(step: StepContext) -> Happened:
        line.break_next("heartbeat", strange)
        assert step.cancel.wait(20)
        line.wait_for("heartbeat", "ok", times=len(line.seen("heartbeat")) + 2)
        return Happened()

    job = submit(steps=1)
    assert worker(tool).run(job.id).result == "succeeded"


def test_a_server_that_forgot_gets_no_second_effect(
    submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    """A restored backup may hand out a step that this process has sent: that is unknown, not sent again."""
    job = submit(steps=2)
    again = {"status": "reserved", "ordinal": 0, "step": job.now()["steps"][0], "idempotency_key": "cb-0"}
    line.break_next("reserve", None, Fault(False, Reply(200, {}, json.dumps(again).encode())))
    assert worker(receiver.tool).run(job.id).result == "succeeded"
    assert receiver.targets == ["0@example.test", "1@example.test"]
    assert reported(line) == [("ok", "settled"), ("unknown", "already_settled"), ("ok", "settled")]


def test_calls_of_a_caller_give_up(submit: Submit, line: Line, server: Server) -> None:
    job = submit()
    line.break_next("cancel", *[LOST_ANSWER] * 200)
    mine = f"mine-{uuid4().hex}"
    soon = Retry(first=0.01, longest=0.02, give_up=0.2)
    with Client(line.url, server.token, retry=soon) as client, pytest.raises(Unreachable) as raised:
        client.cancel(job.id, spec=job.spec, event_id=mine)
    assert mine in str(raised.value.request)
    assert {one.body["event_id"] for one in line.seen("cancel")} == {mine}
    assert job.now()["control"] == "acknowledged"


def test_a_caller_s_lost_answers(line: Line, server: Server) -> None:
    spec = {"queue": "mail", "steps": ["Only one"]}
    job_id = f"order-{uuid4().hex}"
    line.break_next("submit", LOST_ANSWER)
    line.break_next("cancel", LOST_ANSWER)
    with Client(line.url, server.token, retry=QUICK) as client:
        assert client.submit(job_id, spec).status == "existing"
        answer = client.cancel(job_id, spec=spec, cause="user_requested")
        assert (answer.status, answer.replayed, answer.code) == ("requested", True, 202)
        assert client.cancel(job_id, spec=spec).status == "already_requested"
        with pytest.raises(Problem) as raised:
            client.job(f"{job_id}-not")
        assert raised.value.status == 404
