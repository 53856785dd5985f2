"""The signal to the code that is running (protocol.md, section 7), as the heartbeat tells it."""

from datetime import timedelta
from typing import Any

from .story import NOON, Story


def signal(job: Story, claim: int) -> Any:
    return job.heartbeat(claim).tells["signal"]


def heard(job: Story, claim: int, seq: int) -> Any:
    job.heartbeat(claim, heard=seq)
    return job.job.heard_seq, job.job.heard_at


def running() -> tuple[Story, int]:
    """A job with a step out; two receipts after its first."""
    job = Story()
    job.submit()
    claim = job.claim()
    job.reserve(claim)
    return job, claim


def test_none_is_up() -> None:
    job, claim = running()
    told = job.heartbeat(claim).tells
    assert (told["control"], told["paused"], told["signal"]) == ("run", False, None)


def test_a_pause_is_one_until_it_is_resumed() -> None:
    job, claim = running()
    job.pause("paused_by_user")
    assert signal(job, claim) == {
        "seq": 4,
        "level": "pause",
        "cause": "paused_by_user",
        "at": NOON,
        "grace_until": None,
    }
    job.resume()
    assert signal(job, claim) is None
    assert (job.job.paused_at, job.job.paused_seq, job.job.paused_cause) == (None, None, "")


def test_a_cancel_is_a_stop_and_higher_than_a_pause() -> None:
    job, claim = running()
    job.pause()
    job.cancel(cause="user_requested")
    assert signal(job, claim) == {
        "seq": 5,
        "level": "stop",
        "cause": "user_requested",
        "at": NOON,
        "grace_until": NOON + timedelta(seconds=90),
    }


def test_the_end_of_the_grace_makes_it_an_abort_once() -> None:
    job, claim = running()
    job.cancel(cause="user_requested", grace_seconds=30)
    job.wait(29.999999)
    assert job.escalate().status == "not_due"
    job.wait(0.000001)
    assert [job.escalate().status for _ in range(2)] == ["escalated", "not_due"]
    told = signal(job, claim)
    assert (told["seq"], told["level"]) == (5, "abort")
    assert (told["cause"], told["original_cause"]) == ("settle_drain_timeout", "user_requested")


def test_a_stop_that_was_confirmed_at_once_must_still_be_heard(mail_job: Story) -> None:
    claim = mail_job.claim()
    mail_job.cancel(cause="user_requested")
    heard = mail_job.heartbeat(claim)
    assert (heard.status, heard.code, heard.tells["control"]) == ("closed", 200, "acknowledged")
    assert heard.tells["signal"]["level"] == "stop"


def test_a_finished_job_is_closed_and_signals_nothing() -> None:
    job = Story("mail")
    job.submit()
    claim = job.claim()
    job.reserve(claim)
    job.pause()
    job.report(claim, 0, "ok")
    job.cancel()
    told = job.heartbeat(claim)
    assert (told.status, told.tells["control"], told.tells["signal"]) == ("closed", "run", None)


def test_heard_is_kept_for_the_signal_that_is_named() -> None:
    job, claim = running()
    job.cancel()
    job.wait(2)
    assert heard(job, claim, 1) == (None, None), "no signal has that number"
    assert heard(job, claim, 4) == (4, NOON + timedelta(seconds=2))
    job.wait(2)
    assert heard(job, claim, 4) == (4, NOON + timedelta(seconds=2)), "the first time counts"


def test_each_kind_of_signal_is_heard_and_silence_changes_nothing() -> None:
    job, claim = running()
    job.pause()
    assert heard(job, claim, 4)[0] == 4
    job.heartbeat(claim)
    assert job.job.heard_seq == 4
    job.resume()
    job.heartbeat(claim)
    assert job.job.heard_seq == 4
    job.cancel(grace_seconds=0)
    job.escalate()
    assert heard(job, claim, 7)[0] == 7


def test_a_lost_claim_is_told_so() -> None:
    job, claim = running()
    job.revoke()
    lost = job.heartbeat(claim)
    assert (lost.status, lost.code, lost.kept) == ("claim_lost", 409, False)
    assert lost.tells == {"cause": "work_claim_lost"}


def test_a_heartbeat_leaves_no_receipt() -> None:
    job, claim = running()
    assert not job.heartbeat(claim).kept
    assert job.job.seq == 3
