"""The plans driven by hand, without a server: what is sent again, when, and for how long."""

import pytest

from runs.worker import CancelToken, Problem, Retry, Unreachable, wire
from runs.worker.errors import NoAnswer
from runs.worker.plans import Nap, persist
from runs.worker.run import take
from runs.worker.step import Claim
from runs.worker.wire import Answer, read

from .conftest import TIMING

ASK = wire.command("order-1", "report", event_id="e-1", claim="1-x", ordinal=0, outcome="ok", value="")
JSON = {"Content-Type": "application/json"}


def test_the_very_same_words_are_sent_again() -> None:
    plan = persist(ASK, Retry())
    assert next(plan) is ASK
    for _ in range(20):
        assert isinstance(plan.throw(NoAnswer("reset")), Nap)
        assert plan.send(None) is ASK
    with pytest.raises(StopIteration) as end:
        plan.send(Answer(200, {"status": "settled"}))
    assert end.value.value.status == "settled"


def test_retry_after_is_kept_to() -> None:
    plan = persist(ASK, Retry())
    next(plan)
    assert plan.throw(NoAnswer("busy", 37.0)) == Nap(37.0)


def test_pauses_grow_to_a_bound_and_differ() -> None:
    retry = Retry(first=0.2, longest=5.0)
    assert all(0.1 <= retry.pause(0) <= 0.2 for _ in range(50))
    assert all(2.5 <= retry.pause(1_000_000) <= 5.0 for _ in range(50))
    assert len({retry.pause(5) for _ in range(50)}) > 1


def test_a_bound_on_patience_names_what_was_sent() -> None:
    plan = persist(ASK, Retry(give_up=10.0))
    next(plan)
    with pytest.raises(Unreachable) as raised:
        plan.throw(NoAnswer("busy", 11.0))
    assert raised.value.request is ASK


def test_what_would_not_help_is_not_tried_again() -> None:
    plan = persist(ASK, Retry())
    next(plan)
    with pytest.raises(Problem):
        plan.throw(Problem(403, "no_grant", ""))


def test_a_claim_may_be_waited_for_by_any_clock() -> None:
    """Clocks differ: a lease that has ended by this clock is asked for after a poll, not in a hot loop."""
    cancel = CancelToken()
    plan = take("order-1", "w1", {}, TIMING, Retry(), cancel)
    next(plan)
    ask = plan.send(Answer(200, {"dispatch": "marked", "steps": []}))
    nap = plan.send(Answer(409, {"status": "claim_held", "lease_expires_at": "2001-01-01T00:00:00.000000Z"}))
    assert nap == Nap(TIMING.poll, cancel)
    assert plan.send(None) is ask
    nap = plan.send(Answer(409, {"status": "claim_held", "lease_expires_at": "2999-01-01T00:00:00.000000Z"}))
    assert nap == Nap(TIMING.poll, cancel)
    plan.send(None)
    with pytest.raises(StopIteration) as end:
        plan.send(Answer(200, {"status": "claimed", "claim": "4-secret", "fence": 4}))
    claim = end.value.value
    assert isinstance(claim, Claim)
    assert (claim.marked, claim.fence) == (True, 4)
    assert "secret" not in repr(claim)


@pytest.mark.parametrize("code", [408, 425, 429, 500, 502, 503, 504])
def test_these_replies_are_no_answers(code: int) -> None:
    with pytest.raises(NoAnswer) as raised:
        read(code, {"Retry-After": "2"}, b'{"status": %d, "code": "busy"}' % code)
    assert raised.value.retry_after == 2.0


@pytest.mark.parametrize(
    "header", [{}, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, {"Retry-After": "-1"}]
)
def test_a_retry_after_that_is_no_number_is_left_to_ourselves(header: dict[str, str]) -> None:
    with pytest.raises(NoAnswer) as raised:
        read(503, header, b"")
    assert raised.value.retry_after is None


@pytest.mark.parametrize("content", [b"", b"<html>", b'{"status": "set', b"[]", b"\xff"])
def test_a_broken_body_is_no_answer(content: bytes) -> None:
    with pytest.raises(NoAnswer):
        read(200, JSON, content)


def test_the_two_kinds_of_422_are_told_apart() -> None:
    assert read(422, JSON, b'{"status": "spec_required", "replayed": false}').status == "spec_required"
    body = (
        b'{"status": 422, "code": "invalid", "errors": [{"field": "spec.queue", "message": "no such queue"}]}'
    )
    with pytest.raises(Problem, match=r"spec\.queue: no such queue"):
        read(422, JSON, body)


def test_a_redirect_is_a_problem_not_an_answer() -> None:
    with pytest.raises(Problem, match="301"):
        read(301, {}, b"")


def test_a_job_id_goes_into_a_path_unharmed() -> None:
    assert wire.job("order-7:a@20261129").path == "/api/v1/jobs/order-7:a@20261129"
    assert wire.job("../x").path == "/api/v1/jobs/..%2Fx"
