"""The accepted cancel reaches the code that is running, by heartbeat (docs/protocol.md, section 7)."""

import asyncio
import threading
from functools import partial

import pytest

from runs.worker import Cancelled, CancelToken, Cause, Happened, How, StepContext, Timing
from runs.worker.wire import Answer

from .conftest import QUIET, Aside, Job, MakeWorker, Receiver, Server, Submit
from .web import LOST_ANSWER, LOST_REQUEST, Line

CAUSE = {"code": "user_requested", "short": "Asked by the user", "text": "The user asked for it."}


def test_a_cancel_is_heard_while_the_step_runs_and_what_happened_is_kept(
    submit: Submit, worker: MakeWorker, receiver: Receiver
) -> None:
    heard: list[Cause | None] = []

    def tool(step: StepContext) -> Happened:
        value = receiver.take(step)
        assert not step.cancel.cancelled
        job.cancel()
        assert step.cancel.wait(20), "the cancel did not come"
        heard.append(step.cancel.cause)
        return Happened(value)

    job = submit(steps=3)
    ended = worker(tool).run(job.id)
    assert heard[0] is not None
    assert heard[0].code == "user_requested"
    assert (ended.how, ended.cause) == (How.CANCELLED, heard[0])
    assert job.states() == [("ok", "250 queued 0"), ("pending", None), ("pending", None)]
    assert job.now()["control"] == "acknowledged"


def test_the_worker_says_that_it_heard(
    submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    def tool(step: StepContext) -> Happened:
        job.cancel()
        assert step.cancel.wait(20)
        return Happened()

    job = submit()
    worker(tool).run(job.id)
    signal = job.now()["cancel"]
    assert signal["heard_at"] is not None
    assert line.seen("heartbeat")[-1].body["heard"] > 0


def test_a_stop_that_was_confirmed_at_once_is_still_heard(
    submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    """Between two steps nothing is unsettled: the job is acknowledged before any heartbeat knows."""
    job = submit(steps=3)
    line.break_next("report", None, then=job.cancel)
    ended = worker(receiver.tool, QUIET).run(job.id)
    assert (ended.how, ended.cause and ended.cause.code) == (How.CANCELLED, "user_requested")
    assert receiver.targets == ["0@example.test"]
    assert [one.status for one in line.seen("heartbeat")] == ["closed", "closed"]
    assert job.now()["cancel"]["heard_at"] is not None


def test_a_lost_heartbeat_costs_time_never_the_signal(submit: Submit, worker: MakeWorker, line: Line) -> None:
    def tool(step: StepContext) -> Happened:
        line.break_next("heartbeat", *[LOST_REQUEST] * 5)
        job.cancel()
        assert step.cancel.wait(20)
        return Happened()

    job = submit()
    assert worker(tool).run(job.id).how is How.CANCELLED
    assert not all(one.arrived for one in line.seen("heartbeat"))


def test_a_marked_step_that_is_told_to_stop_before_it_is_sent_is_released(
    submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    def tool(step: StepContext) -> Happened:
        job.cancel("goal_met")
        assert step.cancel.wait(20)
        return receiver.tool(step)

    job = submit("marked")
    ended = worker(tool).run(job.id)
    assert (ended.how, ended.cause and ended.cause.code) == (How.CANCELLED, "goal_met")
    assert isinstance(ended.error, Cancelled)
    assert receiver.keys == []
    assert [one.status for one in line.seen("release")] == ["released"]
    assert not line.seen("dispatch")
    assert job.now()["control"] == "acknowledged"


def test_dispatch_refuses_after_a_cancel_that_no_heartbeat_told(
    submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    job = submit("marked")
    line.break_next("reserve", None, then=job.cancel)
    ended = worker(receiver.tool, QUIET).run(job.id)
    assert (ended.how, ended.cause and ended.cause.code) == (How.CANCELLED, "user_requested")
    assert receiver.keys == []
    assert [one.status for one in line.seen("dispatch")] == ["cancelled"]
    assert not line.seen("release")
    assert not line.seen("report")


def cancel_and_have_it_heard(job: Job, line: Line) -> None:
    """Returns when the worker has taken in the signal: a heartbeat after that is answered again and again."""
    job.cancel()
    line.wait_for("heartbeat", "ok", times=len(line.seen("heartbeat")) + 3)


@pytest.mark.parametrize(
    ("dispatch", "state", "how"), [("marked", "pending", "cancelled"), ("unmarked", "unknown", "unknown")]
)
def test_a_reservation_that_comes_back_after_the_cancel_is_not_begun(
    dispatch: str, state: str, how: str, submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    """Its first answer is lost, and the heartbeat tells of the cancel before the replay arrives."""
    job = submit(dispatch)
    line.break_next("reserve", None, then=partial(cancel_and_have_it_heard, job, line))
    ended = worker(lambda step: Happened(receiver.take(step))).run(job.id)
    assert ended.how == how
    assert ended.cause is not None
    assert ended.cause.code == "user_requested"
    assert receiver.keys == []
    assert job.states()[0] == (state, None)


def test_a_permission_that_comes_back_after_the_cancel_is_not_used(
    submit: Submit, worker: MakeWorker, line: Line, receiver: Receiver
) -> None:
    """The mark is set, so it is unknown by the protocol; but a tool that was told to stop starts nothing."""
    job = submit("marked")
    line.break_next("dispatch", LOST_ANSWER, then=partial(cancel_and_have_it_heard, job, line))
    ended = worker(receiver.tool).run(job.id)
    assert [one.status for one in line.seen("dispatch")] == ["dispatched", "dispatched"]
    assert receiver.keys == []
    assert (ended.how, ended.cause and ended.cause.code) == (How.UNKNOWN, "user_requested")
    assert [one.body["outcome"] for one in line.seen("report")] == ["unknown"]


def test_a_cancel_after_the_dispatch_leaves_unknown_where_the_tool_stops(
    submit: Submit, worker: MakeWorker, line: Line
) -> None:
    """A worker that stops after `dispatched` reports unknown, never rejected for its own decision."""

    def tool(step: StepContext) -> Happened:
        step.dispatch()
        job.cancel()
        assert step.cancel.wait(20)
        step.cancel.raise_if_cancelled()
        return Happened()

    job = submit("marked")
    ended = worker(tool).run(job.id)
    assert (ended.how, ended.ordinal) == (How.UNKNOWN, 0)
    assert [(one.body["outcome"], one.status) for one in line.seen("report")] == [("unknown", "unresolved")]
    assert job.states()[0] == ("unknown", None)


def test_a_pause_is_waited_out_and_cancels_nothing(
    submit: Submit, worker: MakeWorker, line: Line, server: Server, receiver: Receiver, aside: Aside
) -> None:
    paused = threading.Event()

    def tool(step: StepContext) -> Happened:
        if step.ordinal == 0:
            server.staff("pause", job.id)
            line.wait_for("heartbeat", "ok", times=len(line.seen("heartbeat")) + 3)
            assert step.cancel.paused
            assert not step.cancel.cancelled
            paused.set()
        else:
            assert not step.cancel.cancelled
        return receiver.tool(step)

    job = submit(steps=2)
    ended = aside(lambda: worker(tool).run(job.id))
    line.wait_for("reserve", "paused", times=2)
    assert paused.is_set()
    assert receiver.targets == ["0@example.test"]
    server.staff("resume", job.id)
    assert ended().result == "succeeded"
    assert job.now()["claim"]["fence"] == 1


def test_a_pause_that_becomes_a_cancel_ends_the_run(
    submit: Submit, worker: MakeWorker, line: Line, server: Server, receiver: Receiver, aside: Aside
) -> None:
    job = submit()
    server.staff("pause", job.id)
    ended = aside(lambda: worker(receiver.tool).run(job.id))
    line.wait_for("reserve", "paused")
    job.cancel()
    assert ended().how is How.CANCELLED
    assert receiver.keys == []


class TestToken:
    """By itself: what it makes of answers, and how one waits for it."""

    def answer(self, status: str = "ok", **body: object) -> Answer:
        return Answer(200, {"status": status, **body})

    def signal(self, level: str, **more: object) -> Answer:
        return self.answer(
            signal={"seq": 7, "level": level, "cause": CAUSE, "at": "", "grace_until": None, **more}
        )

    def test_a_stop_cancels_it_with_the_cause_as_told(self) -> None:
        token = CancelToken()
        token.observe(self.signal("stop"))
        assert token.cause == Cause(**CAUSE)
        with pytest.raises(Cancelled) as raised:
            token.raise_if_cancelled()
        assert raised.value.cause == Cause(**CAUSE)

    def test_it_never_goes_back_and_the_first_cause_stands(self) -> None:
        token = CancelToken()
        token.observe(self.signal("stop"))
        drain = {"code": "settle_drain_timeout", "short": "", "text": ""}
        token.observe(self.signal("abort", cause=drain, original_cause=CAUSE))
        assert token.signal is not None
        assert (token.signal.level, token.signal.cause.code) == ("abort", "settle_drain_timeout")
        token.observe(self.answer(signal=None))
        token.observe(self.answer("claim_lost", cause={"code": "operator_requested"}))
        assert token.cancelled
        assert token.cause == Cause(**CAUSE)

    def test_an_abort_that_is_heard_first_tells_the_first_cause(self) -> None:
        token = CancelToken()
        drain = {"code": "settle_drain_timeout", "short": "", "text": ""}
        token.observe(self.signal("abort", cause=drain, original_cause=CAUSE))
        assert token.cause == Cause(**CAUSE)

    def test_a_pause_comes_and_goes(self) -> None:
        token, seen = CancelToken(), list[bool]()
        for answer in (self.signal("pause"), self.answer(signal=None)):
            token.observe(answer)
            seen.append(token.paused)
        assert seen == [True, False]
        assert not token.cancelled
        assert not token.wait(0)

    def test_a_lost_claim_cancels_it(self) -> None:
        token = CancelToken()
        token.observe(self.answer("claim_lost", cause=None))
        assert token.lost
        assert token.cause is not None
        assert token.cause.code == "work_claim_lost"

    def test_callbacks_come_once_also_late_and_not_when_taken_away(self) -> None:
        token, called = CancelToken(), list[str]()
        token.on_cancel(lambda cause: called.append(f"first {cause.code}"))
        token.on_cancel(lambda cause: called.append("never"))()
        token.observe(self.signal("stop"))
        token.observe(self.signal("abort"))
        token.on_cancel(lambda cause: called.append("late"))
        assert called == ["first user_requested", "late"]

    def test_a_callback_that_fails_is_told_of_and_stops_nothing(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        def fails(cause: Cause) -> None:
            raise RuntimeError(cause.code)

        token, called = CancelToken(), list[Cause]()
        token.on_cancel(fails)
        token.on_cancel(called.append)
        token.observe(self.signal("stop"))
        assert called == [Cause(**CAUSE)]
        assert "callback" in caplog.text

    def test_it_can_be_awaited_from_another_thread_s_news(self) -> None:
        token = CancelToken()

        async def wait() -> Cause:
            waiting = asyncio.ensure_future(token)
            await asyncio.sleep(0)
            threading.Thread(target=token.observe, args=(self.signal("stop"),)).start()
            return await asyncio.wait_for(waiting, 20)

        assert asyncio.run(wait()) == Cause(**CAUSE)

    def test_a_wait_that_is_given_up_leaves_nothing_behind(self, caplog: pytest.LogCaptureFixture) -> None:
        token = CancelToken()

        async def wait() -> None:
            await asyncio.wait_for(asyncio.ensure_future(token), 0.01)

        with pytest.raises(TimeoutError):
            asyncio.run(wait())
        token.observe(self.signal("stop"))
        assert not caplog.records, "it woke a loop that is closed"

    def test_a_heartbeat_must_come_before_the_lease_ends(self) -> None:
        with pytest.raises(ValueError, match="heartbeat"):
            Timing(heartbeat=90, ttl=90)
