"""Which evidence settles what (protocol.md, section 6), as a table for each who may say it."""

from typing import get_args

import pytest

from runs.protocol.asks import Observe
from runs.protocol.evidence import Kind

from .page import PAGE
from .story import Story

#                       report by the reserving claim | by another claim, a person, a verifier
SETTLES = {
    #                       ok     rejected   ok     rejected
    "receiver_confirmed": (True, False, True, False),
    "worker_reported": (True, False, False, False),
    "receiver_refused": (False, True, False, True),
    "receiver_sealed": (False, True, False, True),
    "worker_refused": (False, True, False, False),
    "not_found": (False, False, False, False),
    "timed_out": (False, False, False, False),
    "ambiguous": (False, False, False, False),
    "other": (False, False, False, False),
}
CASES = [
    (kind, outcome, own, row[(0 if own else 2) + (outcome == "rejected")])
    for kind, row in SETTLES.items()
    for outcome in ("ok", "rejected")
    for own in (True, False)
]


def test_the_table_has_every_kind_and_the_page_too() -> None:
    section = PAGE[PAGE.index("## 6. ") : PAGE.index("## 7. ")]
    assert set(SETTLES) == set(get_args(Kind))
    assert [kind for kind in SETTLES if f"`{kind}`" not in section] == []


def unknown_step() -> tuple[Story, int]:
    job = Story()
    job.submit()
    claim = job.claim("w1")
    job.reserve(claim)
    job.report(claim, 0, "unknown")
    return job, claim


@pytest.mark.parametrize(("kind", "outcome", "own", "settles"), CASES)
def test_a_report(kind: str, outcome: str, own: bool, settles: bool) -> None:
    job, claim = unknown_step()
    if not own:
        job.wait(90)
        claim = job.claim("w2")
    answer = job.report(claim, 0, outcome, kind=kind)
    assert answer.status == ("settled" if settles else "not_evidence")
    assert job.state(0) == (outcome if settles else "unknown")


@pytest.mark.parametrize("by", ["person", "service", "verifier"])
@pytest.mark.parametrize(("kind", "outcome", "settles"), [(k, o, s) for k, o, own, s in CASES if not own])
def test_a_reconcile(kind: str, outcome: str, settles: bool, by: str) -> None:
    job, _ = unknown_step()
    assert job.reconcile(0, outcome, kind=kind, by=by).status == ("settled" if settles else "not_evidence")


@pytest.mark.parametrize("kind", SETTLES)
def test_any_evidence_may_be_observed_and_settles_nothing(kind: str) -> None:
    job, _ = unknown_step()
    seen = Observe.model_validate(
        {"event_id": "o", "ordinal": 0, "evidence": {"kind": kind, "text": "looked"}}
    )
    assert job.say(seen).status == "observed"
    assert job.state(0) == "unknown"


def test_a_report_ok_without_evidence_is_the_worker_s_own_word() -> None:
    job, claim = unknown_step()
    assert job.report(claim, 0, "ok").status == "settled"


def test_which_does_not_count_from_a_claim_that_did_not_reserve() -> None:
    job, _ = unknown_step()
    job.wait(90)
    assert job.report(job.claim("w2"), 0, "ok").status == "not_evidence"


@pytest.mark.parametrize("kind", SETTLES)
def test_unknown_may_come_with_any_evidence(kind: str) -> None:
    job, claim = unknown_step()
    assert job.report(claim, 0, "unknown", kind=kind).status == "unresolved"


def test_an_observation_fits_any_step_of_an_admitted_job(mail_job: Story) -> None:
    assert [mail_job.observe(ordinal).status for ordinal in (0, 1, 2)] == [
        "observed",
        "observed",
        "not_reserved",
    ]
