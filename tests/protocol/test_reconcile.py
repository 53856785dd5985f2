"""Reconcile, alone and by two people (protocol.md, section 4; permissions.md, two people)."""

import pytest

from .story import Story


def unknown_step(**rules: str) -> Story:
    job = Story("mail", "book", **rules)  # type: ignore[arg-type]
    job.submit()
    claim = job.claim()
    job.reserve(claim)
    job.report(claim, 0, "unknown")
    return job


def test_nothing_is_settled_over_a_claim_that_works(mail_job: Story) -> None:
    mail_job.reserve(mail_job.claim())
    assert mail_job.reconcile(0, "ok").status == "still_claimed"
    mail_job.revoke()
    assert mail_job.reconcile(0, "ok").status == "settled"


def test_a_claim_that_does_not_know_stands_in_nobody_s_way() -> None:
    job = unknown_step()
    assert job.job.lease_is_live(job.world.now)
    assert job.reconcile(0, "ok").status == "settled"


def test_nor_does_the_next_claim(mail_job: Story) -> None:
    mail_job.reserve(mail_job.claim("w1"))
    mail_job.wait(90)
    mail_job.claim("w2")
    assert mail_job.reconcile(0, "ok").status == "settled"


def test_an_unknown_said_by_the_next_claim_is_not_the_reserving_claim_s(mail_job: Story) -> None:
    mail_job.reserve(mail_job.claim("w1"))
    mail_job.wait(90)
    assert mail_job.report(mail_job.claim("w2"), 0, "unknown").status == "unresolved"
    assert not mail_job.step(0).said_unknown


def test_a_lapsed_lease_counts_as_lapsed_at_once(mail_job: Story) -> None:
    mail_job.reserve(mail_job.claim())
    mail_job.wait(90)
    assert mail_job.reconcile(0, "ok").words == ["lapsed", "settled"]


def test_and_stays_lapsed_though_the_reconcile_is_refused(mail_job: Story) -> None:
    mail_job.reserve(mail_job.claim())
    mail_job.wait(90)
    assert mail_job.reconcile(0, "ok", kind="not_found").words == ["lapsed", "not_evidence"]
    assert mail_job.state(0) == "unknown"


def test_a_lapse_may_put_the_step_back_before_the_reconcile(marked_job: Story) -> None:
    marked_job.reserve(marked_job.claim())
    marked_job.cancel()
    marked_job.wait(90)
    assert marked_job.reconcile(0, "ok").words == ["lapsed", "not_reserved", "acknowledged"]


def test_a_step_that_may_still_be_dispatched_waits_for_a_revoke(marked_job: Story) -> None:
    marked_job.reserve(marked_job.claim())
    marked_job.wait(500)
    assert marked_job.reconcile(0, "ok").status == "still_claimed"


def test_what_was_never_out_is_not_settled() -> None:
    job = unknown_step()
    assert [job.reconcile(ordinal, "ok").status for ordinal in (1, 2, -1)] == ["not_reserved"] * 3


def test_a_settled_step_confirms_the_stop() -> None:
    job = unknown_step()
    job.cancel()
    assert job.headline == "verifying_unknown"
    assert job.reconcile(0, "rejected").words == ["settled", "acknowledged"]
    assert job.headline == "stopped_after_failure"


def test_two_people_settle_together() -> None:
    job = unknown_step(needs="2")
    proposed = job.reconcile(0, "ok", "a")
    assert (proposed.status, proposed.code, job.state(0)) == ("proposed", 202, "unknown")
    assert job.reconcile(0, "rejected").status == "waiting"
    approved = job.approve()
    assert (approved.status, job.state(0), job.step(0).value) == ("settled", "ok", "a")
    assert job.approve().status == "already_decided"


@pytest.mark.parametrize(
    ("needs", "outcome", "status"),
    [
        ("1", "ok", "settled"),
        ("1", "rejected", "settled"),
        ("2", "ok", "proposed"),
        ("2", "rejected", "proposed"),
        ("2 for did-not-happen", "ok", "settled"),
        ("2 for did-not-happen", "rejected", "proposed"),
    ],
)
def test_how_many_people_a_queue_asks_for(needs: str, outcome: str, status: str) -> None:
    assert unknown_step(needs=needs).reconcile(0, outcome).status == status
    assert unknown_step(needs=needs).reconcile(0, outcome, by="verifier").status == "settled"


def test_a_verifier_does_not_wait() -> None:
    job = unknown_step(needs="2")
    job.reconcile(0, "ok")
    assert job.reconcile(0, "rejected", by="verifier").status == "settled"
    assert job.approve().status == "superseded"


def test_a_service_account_s_finding_is_a_proposal_like_a_person_s() -> None:
    assert unknown_step(needs="2").reconcile(0, "ok", by="service").status == "proposed"


def test_bad_evidence_is_refused_before_anybody_waits() -> None:
    job = unknown_step(needs="2")
    job.reconcile(0, "ok")
    assert job.reconcile(0, "ok", kind="not_found").status == "not_evidence"


def test_a_declined_proposal_makes_room() -> None:
    job = unknown_step(needs="2")
    job.reconcile(0, "ok")
    assert job.decline().status == "declined"
    assert job.approve().status == "already_decided"
    assert job.reconcile(0, "rejected").status == "proposed"
    assert job.approve().status == "settled"
    assert job.state(0) == "rejected"


def test_a_proposal_lives_for_a_day() -> None:
    job = unknown_step(needs="2")
    job.reconcile(0, "ok")
    job.wait(24 * 3600 - 1)
    assert job.expire().status == "not_due"
    job.wait(1)
    assert job.approve().status == "expired"
    assert job.decline().status == "expired"
    assert [job.expire().status for _ in range(2)] == ["expired", "not_due"]
    assert job.reconcile(0, "ok").status == "proposed"


def test_a_decided_proposal_never_expires() -> None:
    job = unknown_step(needs="2")
    job.reconcile(0, "ok")
    job.approve()
    job.wait(48 * 3600)
    assert job.expire().status == "not_due"
    assert job.proposal is not None
    assert job.proposal.state == "approved"


def test_any_change_of_the_step_makes_a_proposal_old() -> None:
    job = unknown_step(needs="2")
    job.reconcile(0, "ok")
    job.revoke()
    old = 1
    job.report(old, 0, "rejected")
    assert job.approve().status == "superseded"
    assert job.state(0) == "unknown"


def test_what_changes_nothing_of_the_step_does_not() -> None:
    job = unknown_step(needs="2")
    job.reconcile(0, "ok")
    job.observe(0)
    job.pause()
    job.cancel()
    job.revoke()
    assert job.approve().words == ["settled", "acknowledged"]
