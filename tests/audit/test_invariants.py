"""Each invariant of PROTOCOL section 1 broken by hand, as far as an owner can break it: audit names it."""

from typing import Any

import pytest

from runs.models import Claim, Job, Receipt, Step
from runs.protocol.fields import generation_of

from .cast import Story
from .tampering import found, rechain, rewrite, tampering


def rules(job: str) -> set[str]:
    return {breach.rule for breach in found() if breach.job == job}


def steps(job: str, *ordinals: int) -> Any:
    return Step.objects.filter(job__job_id=job, ordinal__in=ordinals)


def jobs(job: str) -> Any:
    return Job.objects.filter(job_id=job)


def test_i1_two_steps_unsettled(told: Story) -> None:
    with tampering():
        steps("held", 1).update(state="inflight")
        assert "I1" in rules("held")


def test_i2_a_step_beyond_pending_behind_one_that_is_not_ok(told: Story) -> None:
    with tampering():
        steps("ready", 1).update(state="inflight")
        assert "I2" in rules("ready")


@pytest.mark.parametrize(
    ("job", "result", "rule"),
    [
        ("completed", "open", "I3"),
        ("ready", "succeeded", "I3"),
        ("failed", "open", "I4"),
        ("held", "failed", "I4"),
    ],
)
def test_i3_i4_the_result_follows_the_steps(told: Story, job: str, result: str, rule: str) -> None:
    with tampering():
        jobs(job).update(result=result)
        assert rule in rules(job)


def test_i3_a_tombstone_never_succeeds(told: Story) -> None:
    with tampering():
        steps("buried", 0, 1).update(state="ok", value="", settled_seq=1)
        jobs("buried").update(result="succeeded", position=2, cur="ok")
        assert {"I3", "I6"} <= rules("buried")


def test_i5_a_confirmed_stop_with_a_step_out(told: Story) -> None:
    with tampering():
        jobs("held").update(control="acknowledged")
        assert "I5" in rules("held")


@pytest.mark.parametrize("generations_between", [0, 1])
def test_i5_a_confirmed_stop_with_an_unfinished_child(told: Story, generations_between: int) -> None:
    """Also where the child itself has ended, but not a child of its own."""
    with tampering():
        below = Job.objects.get(job_id="child" if generations_between else "parent")
        jobs("ready").update(parent=below)
        assert ("parent", "I5", "unfinished") in {(b.job, b.rule, b.where.split()[0]) for b in found()}


@pytest.mark.parametrize(
    "columns", [{"control": "run"}, {"result": "failed"}, {"fence": 1}, {"holder": "w1"}]
)
def test_i6_a_tombstone_is_closed_and_was_never_claimed(told: Story, columns: dict[str, Any]) -> None:
    with tampering():
        jobs("buried").update(**columns)
        assert "I6" in rules("buried")


def test_i6_a_tombstone_with_a_claim_or_a_step_out(told: Story) -> None:
    with tampering():
        steps("buried", 0).update(state="inflight")
        assert "I6" in rules("buried")
    with tampering():
        Claim.objects.filter(job__job_id="held").update(job=Job.objects.get(job_id="buried"))
        assert "I12" in rules("buried")


def test_i7_a_stop_without_a_cancel(told: Story) -> None:
    with tampering():
        jobs("ready").update(control="requested", cancel_seq=1)
        assert "I7" in rules("ready")


def test_i7_a_cancel_without_a_stop(told: Story) -> None:
    with tampering():
        jobs("lapsed-back").update(control="run")
        assert "I7" in rules("lapsed-back")


def test_i8_a_settled_step_without_value_or_receipt(told: Story) -> None:
    for column in ("value", "settled_seq"):
        with tampering():
            steps("failed", 0).update(**{column: None})
            assert "I8" in rules("failed")


def test_i8_a_settled_step_that_no_receipt_settled(told: Story) -> None:
    with tampering():
        steps("held", 0).update(state="ok", value="so they say", settled_seq=3)
        assert {"I8", "I9"} <= rules("held")


def test_i10_two_receipts_swapped(told: Story) -> None:
    with tampering():
        for was, becomes in ((4, 99), (6, 4), (99, 6)):
            Receipt.objects.filter(job__job_id="completed", seq=was).update(seq=becomes)
        assert {"I10", "digest"} <= rules("completed")


def test_i12_a_fence_that_fell(told: Story) -> None:
    with tampering():
        jobs("disputed").update(fence=1)
        assert {"I9"} <= rules("disputed")


def test_i12_a_worker_accepted_under_an_older_fence(told: Story) -> None:
    with tampering():
        rewrite("doubted", 7, "body", claim=1, evidence=None)
        Receipt.objects.filter(job__job_id="doubted", seq=7).update(kind="report")
        rechain("doubted")
        assert "I12" in rules("doubted")


def test_a_job_of_a_sealed_generation_is_as_before(told: Story) -> None:
    """Sealing is not a breach of what was there before it."""
    assert generation_of("ready") <= told.tenant.__class__.objects.get(pk=told.tenant.pk).sealed_generation
    assert found() == []
