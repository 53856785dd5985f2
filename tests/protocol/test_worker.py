"""Claim, heartbeat, reserve, report, release (protocol.md, section 4)."""

from collections.abc import Callable

import pytest

from runs.protocol import asks

from .story import NEVER_ISSUED, Story, Told


def test_a_late_success_is_kept_after_the_cancel(mail_job: Story) -> None:
    claim = mail_job.claim()
    mail_job.reserve(claim)
    assert mail_job.cancel().status == "requested"
    assert mail_job.headline == "verifying"
    assert mail_job.report(claim, 0, "ok", value="250 queued").words == ["settled", "acknowledged"]
    assert mail_job.headline == "stopped"
    assert mail_job.step(0).value == "250 queued"


def test_the_last_step_may_happen_despite_the_cancel() -> None:
    job = Story("mail")
    job.submit()
    claim = job.claim()
    job.reserve(claim)
    job.cancel()
    assert job.report(claim, 0, "ok").tells == {"result": "succeeded"}
    assert job.headline == "completed_despite_cancel"


def test_one_step_after_the_other(mail_job: Story) -> None:
    claim = mail_job.claim()
    mail_job.reserve(claim)
    mail_job.report(claim, 0, "ok")
    assert (mail_job.state(0), mail_job.state(1), mail_job.job.current) == ("ok", "pending", "pending")
    mail_job.reserve(claim)
    mail_job.report(claim, 1, "ok")
    assert (mail_job.state(0), mail_job.state(1), mail_job.job.current) == ("ok", "ok", "ok")
    assert mail_job.headline == "completed"


def test_a_rejected_step_ends_the_job(mail_job: Story) -> None:
    claim = mail_job.claim()
    mail_job.reserve(claim)
    assert mail_job.report(claim, 0, "rejected").tells == {"result": "failed"}
    assert mail_job.headline == "failed"
    assert mail_job.reserve(claim).status == "finished"


def test_one_claim_at_a_time_until_its_lease_ends(mail_job: Story) -> None:
    first = mail_job.claim("w1")
    held = mail_job.say(asks.Claim(worker="w1"))
    assert (held.status, held.tells["holder"]) == ("claim_held", "w1")
    mail_job.wait(90)
    second = mail_job.claim("w2")
    assert (first, second) == (1, 2)
    assert mail_job.reserve(first).status == "claim_lost"
    assert mail_job.reserve(second).status == "reserved"


@pytest.mark.parametrize(("seconds", "status"), [(89.999999, "claim_held"), (90, "claimed")])
def test_a_lease_ends_on_time(mail_job: Story, seconds: float, status: str) -> None:
    mail_job.claim()
    mail_job.wait(seconds)
    assert mail_job.say(asks.Claim(worker="w2")).status == status


def test_an_ended_or_stopped_job_is_closed(mail_job: Story) -> None:
    mail_job.cancel()
    assert mail_job.say(asks.Claim(worker="w1")).status == "closed"


def test_a_requested_job_may_be_claimed_to_verify_it(mail_job: Story) -> None:
    mail_job.reserve(mail_job.claim())
    mail_job.cancel()
    mail_job.wait(90)
    assert mail_job.say(asks.Claim(worker="w2")).status == "claimed"


def test_a_lapsed_lease_that_nobody_took_comes_alive_again(mail_job: Story) -> None:
    claim = mail_job.claim()
    mail_job.wait(3600)
    assert not mail_job.job.lease_is_live(mail_job.world.now)
    assert mail_job.heartbeat(claim).status == "ok"
    assert mail_job.job.lease_is_live(mail_job.world.now)
    assert mail_job.say(asks.Claim(worker="w2")).status == "claim_held"


def test_every_accepted_worker_command_renews_the_lease(marked_job: Story) -> None:
    claim = marked_job.claim()
    accepted: list[Callable[[], Told]] = [
        lambda: marked_job.heartbeat(claim),
        lambda: marked_job.reserve(claim),
        lambda: marked_job.release(claim),
        lambda: marked_job.reserve(claim),
        lambda: marked_job.dispatch(claim),
        lambda: marked_job.report(claim, 0, "unknown"),
        lambda: marked_job.report(claim, 0, "ok"),
    ]
    for say in accepted:
        marked_job.wait(60)
        assert say().code == 200
        lease = marked_job.job.lease_expires_at
        assert lease is not None
        assert (lease - marked_job.world.now).total_seconds() == 90


def test_nothing_is_handed_out_over_an_unsettled_step(mail_job: Story) -> None:
    claim = mail_job.claim()
    mail_job.reserve(claim)
    clue = mail_job.reserve(claim)
    assert (clue.status, clue.tells) == ("inflight", {"ordinal": 0, "dispatched": False})
    mail_job.report(claim, 0, "unknown")
    assert mail_job.reserve(claim).status == "unknown"
    assert mail_job.headline == "outcome_unknown"


def test_a_reservation_is_repeated_to_its_own_attempt_only(mail_job: Story) -> None:
    claim = mail_job.claim()
    assert mail_job.reserve(claim, attempt="x").kept
    again = mail_job.reserve(claim, attempt="x")
    assert (again.status, again.kept, again.tells["ordinal"]) == ("reserved", False, 0)
    assert mail_job.reserve(claim, attempt="y").status == "inflight"
    assert mail_job.reserve(claim).status == "inflight"


def test_no_attempt_is_never_repeated_to(mail_job: Story) -> None:
    claim = mail_job.claim()
    mail_job.reserve(claim)
    assert mail_job.reserve(claim).status == "inflight"


def test_nothing_starts_after_a_cancel(mail_job: Story) -> None:
    claim = mail_job.claim()
    mail_job.cancel(cause="user_requested")
    refused = mail_job.reserve(claim)
    assert (refused.status, refused.tells["cause"]) == ("cancelled", "user_requested")


def test_reports_are_refused_in_the_order_of_the_page(mail_job: Story) -> None:
    claim = mail_job.claim()
    assert mail_job.report(NEVER_ISSUED, 0, "ok").status == "claim_lost"
    assert mail_job.report(claim, 2, "ok").status == "not_reserved"
    assert mail_job.report(claim, -1, "ok").status == "not_reserved"
    assert mail_job.report(claim, 0, "ok").status == "not_reserved"
    mail_job.reserve(claim)
    assert mail_job.report(claim, 0, "ok", kind="not_found").status == "not_evidence"
    assert mail_job.report(claim, 0, "ok").status == "settled"
    assert mail_job.report(claim, 0, "ok").status == "already_settled"


def test_a_report_on_no_job_is_remembered(new_job: Story) -> None:
    refused = new_job.report(NEVER_ISSUED, 0, "ok")
    assert (refused.status, refused.kept) == ("not_admitted", True)


def test_an_unknown_step_may_still_be_reported_by_its_own_claim(mail_job: Story) -> None:
    claim = mail_job.claim()
    mail_job.reserve(claim)
    mail_job.report(claim, 0, "unknown")
    assert mail_job.report(claim, 0, "ok", value="a").status == "settled"


def test_revoke_takes_the_claim_even_after_the_end() -> None:
    job = Story("mail")
    job.submit()
    claim = job.claim()
    job.reserve(claim)
    job.report(claim, 0, "ok")
    assert job.revoke().status == "revoked"
    assert (job.job.holder, job.job.lease_expires_at) == ("", None)
    assert job.heartbeat(claim).status == "claim_lost"
    assert job.revoke().status == "no_claim"


def test_a_pause_holds_the_next_step_only(mail_job: Story) -> None:
    claim = mail_job.claim()
    mail_job.reserve(claim)
    assert [mail_job.pause().status for _ in range(2)] == ["paused", "already_paused"]
    assert mail_job.report(claim, 0, "ok").status == "settled"
    assert mail_job.headline == "paused"
    assert mail_job.reserve(claim).status == "paused"
    assert [mail_job.resume().status for _ in range(2)] == ["resumed", "not_paused"]
    assert mail_job.reserve(claim).tells["ordinal"] == 1


def test_resuming_never_re_runs_an_unsettled_step(mail_job: Story) -> None:
    claim = mail_job.claim()
    mail_job.reserve(claim)
    mail_job.report(claim, 0, "unknown")
    mail_job.pause()
    mail_job.resume()
    assert mail_job.reserve(claim).status == "unknown"


def test_a_finished_job_is_not_paused() -> None:
    job = Story("mail")
    job.submit()
    claim = job.claim()
    job.reserve(claim)
    job.pause()
    job.report(claim, 0, "ok")
    assert (job.pause().status, job.resume().status) == ("too_late", "too_late")


def test_after_a_cancel_a_pause_is_history(mail_job: Story) -> None:
    mail_job.pause()
    mail_job.cancel()
    assert (mail_job.resume().status, mail_job.pause().status) == ("too_late", "too_late")
    assert mail_job.job.paused_at is not None
