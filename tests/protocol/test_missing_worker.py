"""An inflight step whose worker is gone (protocol.md, section 5): its table, then what follows from it."""

import pytest

from .story import Story

#: how the job is dispatched, whether the mark was set, whether a cancel came, and where the step then is
LAPSE = [
    ("unmarked", False, False, "unknown"),
    ("unmarked", False, True, "unknown"),
    ("marked", False, False, "inflight"),
    ("marked", False, True, "pending"),
    ("marked", True, False, "unknown"),
    ("marked", True, True, "unknown"),
]
LOSS = [
    ("unmarked", False, False, "unknown"),
    ("unmarked", False, True, "unknown"),
    ("marked", False, False, "pending"),
    ("marked", False, True, "pending"),
    ("marked", True, False, "unknown"),
    ("marked", True, True, "unknown"),
]


def with_a_step_out(dispatch: str, mark: bool, cancel: bool) -> tuple[Story, int]:
    job = Story(dispatch=dispatch)
    job.submit()
    claim = job.claim()
    job.reserve(claim)
    if mark:
        job.dispatch(claim)
    if cancel:
        job.cancel()
    return job, claim


@pytest.mark.parametrize(("dispatch", "mark", "cancel", "state"), LAPSE)
def test_a_lease_lapses(dispatch: str, mark: bool, cancel: bool, state: str) -> None:
    job, _ = with_a_step_out(dispatch, mark, cancel)
    assert job.lapse().status == "not_lapsed"
    job.wait(90)
    lapse = job.lapse()
    assert lapse.status == ("lapsed" if state != "inflight" else "not_lapsed")
    assert lapse.kept == (state != "inflight")
    assert job.state(0) == state


@pytest.mark.parametrize(("dispatch", "mark", "cancel", "state"), LOSS)
def test_a_claim_is_taken_over(dispatch: str, mark: bool, cancel: bool, state: str) -> None:
    job, _ = with_a_step_out(dispatch, mark, cancel)
    job.wait(90)
    job.claim("w2")
    assert job.state(0) == state


@pytest.mark.parametrize(("dispatch", "mark", "cancel", "state"), LOSS)
def test_a_claim_is_revoked(dispatch: str, mark: bool, cancel: bool, state: str) -> None:
    job, _ = with_a_step_out(dispatch, mark, cancel)
    assert job.revoke().detail["step"] == {"ordinal": 0, "from": "inflight", "to": state}
    assert job.state(0) == state


@pytest.mark.parametrize("state", ["pending", "unknown"])
def test_a_revoke_that_leaves_nothing_out_confirms_the_stop(state: str) -> None:
    job, _ = with_a_step_out("marked", mark=state == "unknown", cancel=True)
    assert job.revoke().words == (["revoked", "acknowledged"] if state == "pending" else ["revoked"])
    assert job.headline == ("stopped" if state == "pending" else "verifying_unknown")


def test_the_worker_that_was_only_slow_goes_on(marked_job: Story) -> None:
    claim = marked_job.claim()
    marked_job.reserve(claim, attempt="x")
    marked_job.wait(500)
    marked_job.lapse()
    assert marked_job.dispatch(claim, attempt="x").status == "dispatched"


def test_a_lapse_after_a_cancel_confirms_the_stop() -> None:
    job, claim = with_a_step_out("marked", mark=False, cancel=True)
    job.wait(90)
    assert job.lapse().words == ["lapsed", "acknowledged"]
    assert job.dispatch(claim).status == "not_reserved"
    assert job.headline == "stopped"


def test_the_claim_s_own_commands_never_write_the_lapse() -> None:
    job, claim = with_a_step_out("unmarked", mark=False, cancel=False)
    job.wait(500)
    assert job.report(claim, 0, "ok").words == ["settled"]


def test_an_unknown_step_is_not_run_again_by_the_next_worker() -> None:
    job, _ = with_a_step_out("unmarked", mark=False, cancel=False)
    job.wait(90)
    new = job.claim("w2")
    clue = job.reserve(new)
    assert (clue.status, clue.tells) == ("unknown", {"ordinal": 0, "dispatched": False})


def test_a_step_that_came_back_is_run_by_the_next_worker() -> None:
    job, old = with_a_step_out("marked", mark=False, cancel=False)
    job.wait(90)
    new = job.claim("w2")
    assert job.reserve(new).status == "reserved"
    assert job.report(old, 0, "ok", value="sent after all").status == "fenced"
    assert not job.step(0).disputed, "the step is out again: the word waits beside it"


def test_only_inflight_steps_lapse(mail_job: Story) -> None:
    claim = mail_job.claim()
    mail_job.reserve(claim)
    mail_job.report(claim, 0, "unknown")
    mail_job.wait(500)
    assert not mail_job.lapse().kept
