"""Testimony and disputes (protocol.md, section 6)."""

import pytest

from .story import Story

#: two words on one step, and whether they contradict each other
WORDS = [
    (("ok", ""), ("ok", ""), False),
    (("ok", "a"), ("ok", "a"), False),
    (("ok", "a"), ("ok", ""), False),
    (("ok", ""), ("ok", "a"), False),
    (("ok", "a"), ("ok", "b"), True),
    (("ok", "a"), ("rejected", "a"), True),
    (("ok", ""), ("rejected", ""), True),
    (("rejected", ""), ("ok", ""), True),
    (("rejected", "a"), ("rejected", "b"), True),
    (("rejected", ""), ("rejected", "b"), False),
    (("ok", "a"), ("unknown", ""), False),
    (("rejected", ""), ("unknown", ""), False),
]
each_pair = pytest.mark.parametrize(("outcome", "said", "is_contradiction"), WORDS)
Word = tuple[str, str]


def with_a_lost_claim(dispatch: str = "unmarked") -> tuple[Story, int]:
    """One step, out under a claim that was then revoked."""
    job = Story("mail", dispatch=dispatch)
    job.submit()
    claim = job.claim("w1")
    job.reserve(claim)
    job.revoke()
    return job, claim


@each_pair
def test_testimony_beside_an_outcome(outcome: Word, said: Word, is_contradiction: bool) -> None:
    job, old = with_a_lost_claim()
    assert job.report(old, 0, *said).status == "fenced"
    assert not job.step(0).disputed
    assert job.reconcile(0, *outcome).status == "settled"
    assert job.step(0).disputed == is_contradiction
    assert (job.state(0), job.step(0).value) == outcome


@each_pair
def test_a_report_after_an_outcome(outcome: Word, said: Word, is_contradiction: bool) -> None:
    job, old = with_a_lost_claim()
    job.reconcile(0, *outcome)
    assert job.report(old, 0, *said).status == "already_settled"
    assert job.step(0).disputed == is_contradiction
    assert (job.state(0), job.step(0).value) == outcome


@pytest.mark.parametrize(
    ("outcome", "said", "is_contradiction"), [pair for pair in WORDS if pair[1][0] != "unknown"]
)
def test_a_reconcile_after_an_outcome(outcome: Word, said: Word, is_contradiction: bool) -> None:
    job, _ = with_a_lost_claim()
    job.reconcile(0, *outcome)
    assert job.reconcile(0, *said).status == "already_settled"
    assert job.step(0).disputed == is_contradiction


def test_testimony_never_settles_by_itself() -> None:
    job, old = with_a_lost_claim()
    job.report(old, 0, "ok", "7f")
    assert (job.state(0), job.job.result) == ("unknown", "open")
    assert [(said.outcome, said.value) for said in job.step(0).testimony] == [("ok", "7f")]


@pytest.mark.parametrize(
    ("outcome", "status"), [("ok", "fenced"), ("unknown", "fenced"), ("rejected", "not_reserved")]
)
def test_a_word_on_a_step_that_came_back(outcome: str, status: str) -> None:
    """It may have been sent against section 5; that it was not is no news."""
    job, old = with_a_lost_claim("marked")
    assert job.state(0) == "pending"
    assert job.report(old, 0, outcome).status == status
    assert job.step(0).disputed == (status == "fenced")


def test_the_newest_token_s_word_is_testimony_too_once_a_lapse_put_the_step_back() -> None:
    job = Story("mail", dispatch="marked")
    job.submit()
    claim = job.claim()
    job.reserve(claim)
    job.cancel()
    job.wait(90)
    job.lapse()
    assert job.report(claim, 0, "ok", "sent").status == "fenced"
    assert job.step(0).disputed


def test_but_not_after_its_own_release(marked_job: Story) -> None:
    claim = marked_job.claim()
    marked_job.reserve(claim)
    marked_job.release(claim)
    assert marked_job.report(claim, 0, "ok").status == "not_reserved"
    assert not marked_job.step(0).disputed


def test_a_disputed_step_is_not_handed_out_until_it_is_closed() -> None:
    job, old = with_a_lost_claim("marked")
    job.report(old, 0, "ok")
    new = job.claim("w2")
    assert job.reserve(new).status == "disputed"
    assert job.close_dispute(0).status == "dispute_closed"
    assert job.reserve(new).status == "reserved"


def test_a_disputed_pending_step_may_be_settled() -> None:
    job, old = with_a_lost_claim("marked")
    assert job.reconcile(0, "ok").status == "not_reserved"
    job.report(old, 0, "ok", "7f")
    assert job.reconcile(0, "ok", kind="worker_reported").status == "not_evidence"
    assert job.reconcile(0, "ok", "7f").status == "settled"
    assert job.step(0).disputed, "the outcome stands, and so does the dispute until it is closed"
    assert job.headline == "completed"


def test_even_after_the_stop_was_confirmed() -> None:
    job, old = with_a_lost_claim("marked")
    job.cancel()
    assert job.headline == "stopped"
    job.report(old, 0, "ok")
    assert job.reconcile(0, "ok").status == "settled"
    assert job.headline == "completed_despite_cancel"


def test_closing_clears_the_claim_of_the_testimony_on_it() -> None:
    job, old = with_a_lost_claim("marked")
    job.report(old, 0, "ok", "7f")
    job.close_dispute(0)
    new = job.claim("w2")
    job.reserve(new)
    job.report(new, 0, "rejected")
    assert not job.step(0).disputed


def test_closing_changes_no_outcome() -> None:
    job, old = with_a_lost_claim()
    job.reconcile(0, "ok", "a")
    job.report(old, 0, "rejected")
    assert job.close_dispute(0).detail == {"disputed": {"ordinal": 0, "is": False}}
    assert (job.state(0), job.step(0).value, job.headline) == ("ok", "a", "completed")


def test_only_what_is_disputed_is_closed(mail_job: Story) -> None:
    assert [mail_job.close_dispute(ordinal).status for ordinal in (0, 1, 2, -1)] == ["not_disputed"] * 4
