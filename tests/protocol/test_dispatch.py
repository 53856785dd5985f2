"""Dispatch and release: the mark that makes "it was not sent" provable (protocol.md, sections 4 and 5)."""

from .story import Story


def test_the_mark_is_given_once(marked_job: Story) -> None:
    claim = marked_job.claim()
    marked_job.reserve(claim, attempt="x")
    assert marked_job.dispatch(claim, attempt="x").kept
    again = marked_job.dispatch(claim, attempt="x")
    assert (again.status, again.kept) == ("dispatched", False)
    assert marked_job.dispatch(claim, attempt="y").status == "already_dispatched"
    assert marked_job.dispatch(claim).status == "already_dispatched"


def test_without_an_attempt_the_mark_is_never_repeated(marked_job: Story) -> None:
    claim = marked_job.claim()
    marked_job.reserve(claim)
    assert marked_job.dispatch(claim).status == "dispatched"
    assert marked_job.dispatch(claim).status == "already_dispatched"


def test_only_the_attempt_that_reserved_may_send(marked_job: Story) -> None:
    claim = marked_job.claim()
    marked_job.reserve(claim, attempt="x")
    assert marked_job.dispatch(claim, attempt="y").status == "not_reserved"
    assert marked_job.dispatch(claim).status == "not_reserved"


def test_no_attempt_counts_as_one(marked_job: Story) -> None:
    claim = marked_job.claim()
    marked_job.reserve(claim)
    assert marked_job.dispatch(claim, attempt="x").status == "not_reserved"
    assert marked_job.dispatch(claim).status == "dispatched"


def test_a_cancel_between_reserve_and_dispatch_sends_nothing(marked_job: Story) -> None:
    claim = marked_job.claim()
    marked_job.reserve(claim)
    marked_job.cancel(cause="user_requested")
    refused = marked_job.dispatch(claim)
    assert refused.words == ["cancelled", "acknowledged"]
    assert refused.tells == {"cause": "user_requested"}
    assert (marked_job.state(0), marked_job.headline) == ("pending", "stopped")


def test_a_cancel_after_the_mark_waits_for_its_outcome(marked_job: Story) -> None:
    claim = marked_job.claim()
    marked_job.reserve(claim)
    marked_job.dispatch(claim)
    marked_job.cancel()
    assert marked_job.headline == "verifying"
    assert marked_job.checkpoint().tells == {"ordinal": 0}


def test_a_stale_worker_cannot_get_past_dispatch(marked_job: Story) -> None:
    old = marked_job.claim("w1")
    marked_job.reserve(old, attempt="x")
    marked_job.wait(90)
    new = marked_job.claim("w2")
    assert marked_job.dispatch(old, attempt="x").status == "claim_lost"
    marked_job.reserve(new, attempt="x")
    assert marked_job.dispatch(old, attempt="x").status == "claim_lost"
    assert marked_job.dispatch(new, attempt="x").status == "dispatched"


def test_dispatch_is_for_marked_jobs_and_reserved_steps(mail_job: Story, marked_job: Story) -> None:
    assert mail_job.dispatch(mail_job.claim()).status == "unmarked"
    claim = marked_job.claim()
    assert marked_job.dispatch(claim).status == "not_reserved"
    marked_job.reserve(claim)
    assert [marked_job.dispatch(claim, ordinal).status for ordinal in (1, 2, -1)] == ["not_reserved"] * 3


def test_release_before_the_send_puts_the_step_back(marked_job: Story) -> None:
    claim = marked_job.claim()
    marked_job.reserve(claim, attempt="x")
    released = marked_job.release(claim)
    assert released.detail["step"] == {"ordinal": 0, "from": "inflight", "to": "pending"}
    assert (marked_job.step(0).reserved_by, marked_job.step(0).attempt) == (None, None)
    assert marked_job.reserve(claim).status == "reserved"


def test_release_after_the_mark_is_refused(marked_job: Story) -> None:
    claim = marked_job.claim()
    marked_job.reserve(claim)
    marked_job.dispatch(claim)
    assert marked_job.release(claim).status == "already_dispatched"


def test_release_is_refused_in_the_order_of_the_page(mail_job: Story, marked_job: Story) -> None:
    claim = mail_job.claim()
    mail_job.reserve(claim)
    assert mail_job.release(claim).status == "unmarked"
    mail_job.revoke()
    assert mail_job.release(claim).status == "claim_lost"
    assert marked_job.release(marked_job.claim()).status == "not_reserved"


def test_nothing_is_missing_where_nothing_was_sent_or_nothing_is_marked(
    mail_job: Story, marked_job: Story
) -> None:
    claim = marked_job.claim()
    marked_job.reserve(claim)
    assert "no_mark" not in marked_job.report(claim, 0, "rejected").detail
    claim = mail_job.claim()
    mail_job.reserve(claim)
    assert "no_mark" not in mail_job.report(claim, 0, "ok").detail


def test_ok_without_a_mark_is_told(marked_job: Story) -> None:
    claim = marked_job.claim()
    marked_job.reserve(claim)
    assert marked_job.report(claim, 0, "ok").detail["no_mark"]
    assert marked_job.step(0).no_mark
    marked_job.reserve(claim)
    marked_job.dispatch(claim, 1)
    assert "no_mark" not in marked_job.report(claim, 1, "ok").detail
