"""After a backup came back (section 11): only what could have been sent is doubted. The list of jobs is made
before their locks are taken, so the command meets jobs that have ended, or gone, in between."""

import pytest

from runs.protocol import asks

from .story import Story

BACKUP = asks.Restored(at="2026-11-29T11:00:00.000000Z")


def test_what_may_have_been_sent_is_doubted_and_no_fence_of_before_passes() -> None:
    job = Story()
    job.submit()
    old = job.claim()
    told = job.say(BACKUP)
    assert (told.status, told.kept) == ("restored", True)
    assert job.state(0) == "unknown"
    assert job.reserve(old).status == "claim_lost"


def test_a_tombstone_stays_one() -> None:
    job = Story()
    job.cancel()
    before = job.world
    assert (job.say(BACKUP).status, job.world) == ("not_admitted", before)


def test_a_job_that_has_ended_meanwhile_stays_as_it_is() -> None:
    job = Story("mail")
    job.submit()
    claim = job.claim()
    job.reserve(claim)
    job.report(claim, 0, "ok")
    before = job.world
    assert (job.say(BACKUP).status, job.world) == ("closed", before)


def test_a_stop_that_was_confirmed_meanwhile_stays_confirmed() -> None:
    job = Story()
    job.submit()
    job.cancel()
    before = job.world
    assert (job.say(BACKUP).status, job.world) == ("closed", before)


@pytest.mark.parametrize(("sealed", "status"), [(-1, "not_found"), (0, "sealed")])
def test_a_job_that_has_gone_meanwhile(sealed: int, status: str) -> None:
    assert Story().say(BACKUP, sealed_generation=sealed).status == status
