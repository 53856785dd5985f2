"""Receipts changed by hand. The digests tell; where all of them were made right again, the replay does."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db.models import F

from runs.ledger import shown
from runs.models import Job, Receipt, Tenant
from runs.protocol.canonical import receipt_digest

from .cast import Story
from .tampering import found, named, rechain, rewrite, tampering

#: column: (the value that is put there, the rule that tells); of receipt 5 of job `completed`
CHANGED: dict[str, tuple[Any, str]] = {
    "tenant_id": (None, "I10"),
    "job_id": (None, "I10"),
    "job_ref": ("another", "digest"),
    "seq": (99, "digest"),
    "event_id": ("another", "digest"),
    "kind": ("reconcile", "digest"),
    "status": ("fenced", "digest"),
    "actor_type": ("person", "digest"),
    "actor_name": ("lena", "digest"),
    "ordinal": (1, "digest"),
    "body": ("{}", "digest"),
    "detail": ("{}", "digest"),
    "at": (datetime(2030, 1, 1, tzinfo=UTC), "digest"),
    "prev_digest": ("f" * 64, "digest"),
    "digest": ("f" * 64, "digest"),
}


@pytest.mark.parametrize("column", CHANGED)
def test_a_column_of_a_receipt_changed_by_hand_is_named(told: Story, column: str) -> None:
    value, rule = CHANGED[column]
    if column == "tenant_id":
        value = Tenant.objects.get(name="other").pk
    with tampering():
        if column == "job_id":
            value = Job.objects.get(job_id="buried").pk
        assert Receipt.objects.filter(job__job_id="completed", seq=5).update(**{column: value})
        breaches = found()
    assert ("completed", rule) in {(breach.job, breach.rule) for breach in breaches}
    assert {breach.job for breach in breaches} <= {"completed", "buried"}


def test_no_column_is_forgotten() -> None:
    free = ["id", "xid"]
    assert sorted([*CHANGED, *free]) == sorted(field.attname for field in Receipt._meta.concrete_fields)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[]",
        "null",
        "[" * 100_000,
        '{"a":' * 900 + "1" + "}" * 900,
        '{"a":"\\ud800"}',
        '{"\\ud800":"\ue000"}',
        '{"a":1, "b":2}',
        '{"b":2,"a":1}',
    ],
)
@pytest.mark.parametrize("part", ["body", "detail"])
def test_a_text_that_is_no_canonical_object_is_named(told: Story, part: str, text: str) -> None:
    with tampering():
        Receipt.objects.filter(job__job_id="completed", seq=5).update(**{part: text})
        assert ("completed", "digest") in {(breach.job, breach.rule) for breach in found()}


def test_a_text_that_is_not_canonical_though_its_digest_is_right(told: Story) -> None:
    """The digest is made of what is shown; whoever digests the stored text must come to the same."""
    with tampering():
        detail = Receipt.objects.get(job__job_id="completed", seq=5).detail
        Receipt.objects.filter(job__job_id="completed", seq=5).update(detail=detail.replace(":", ": ", 1))
        rechain("completed")
        assert [(breach.job, breach.rule) for breach in found()] == [("completed", "digest")]


def test_a_receipt_taken_out_leaves_a_gap(told: Story) -> None:
    with tampering():
        Receipt.objects.filter(job__job_id="completed", seq=4)._raw_delete("default")
        breaches = [breach for breach in found() if breach.rule == "I10"]
    assert (breaches[0].expected, breaches[0].found) == (4, 5)
    assert {breach.job for breach in breaches} == {"completed"}


def test_a_receipt_with_its_own_digest_made_right_breaks_the_next_link(told: Story) -> None:
    with tampering():
        receipt = Receipt.objects.get(job__job_id="completed", seq=4)
        receipt.body = receipt.body.replace("not there yet", "all is well")
        digest = receipt_digest(shown(receipt))
        Receipt.objects.filter(pk=receipt.pk).update(body=receipt.body, digest=digest)
        breaches = found()
    assert [(breach.job, breach.rule, breach.where) for breach in breaches] == [
        ("completed", "I10", "prev_digest of receipt 5 (report settled)")
    ]
    assert breaches[0].expected == digest


def test_a_last_receipt_cut_off_is_missed_by_its_job(told: Story) -> None:
    with tampering():
        Receipt.objects.filter(job__job_id="completed", seq=13)._raw_delete("default")
        assert {("completed", "I9", "seq"), ("completed", "I9", "head_digest")} <= {named(b) for b in found()}


def test_all_receipts_gone(told: Story) -> None:
    with tampering():
        Receipt.objects.filter(job__job_id="ready")._raw_delete("default")
        assert named(found()[0]) == ("ready", "I9", "receipts")


def test_one_event_id_twice_in_a_tenant(told: Story) -> None:
    with tampering():
        used = Receipt.objects.get(job__job_id="failed", seq=4).event_id
        Receipt.objects.filter(job__job_id="stopped", seq=8).update(event_id=used)
        rechain("stopped")
        assert [breach.rule for breach in found()] == ["I11"]


#: what: (job, number of the receipt, what is changed in which part, the rule and the beginning of `where`)
FORGED: dict[str, tuple[str, int, str, dict[str, Any], str, str]] = {
    "a value": (
        "failed",
        4,
        "detail",
        {"step": {"ordinal": 0, "from": "inflight", "to": "ok"}},
        "I9",
        "detail.step",
    ),
    "a control": ("stopped", 4, "detail", {"control": "run"}, "I9", "detail.control"),
    "a result": ("failed", 4, "detail", {"result": "succeeded"}, "I9", "detail.result"),
    "an answer": ("failed", 4, "detail", {"answer": {"result": "open"}}, "I9", "detail.answer.result"),
    "a fence in the detail": ("held", 2, "detail", {"fence": 7}, "I9", "detail.fence"),
    "a mark": ("marked", 6, "detail", {"marked": 1}, "I9", "detail.marked"),
    "a mark where none was": ("held", 3, "detail", {"marked": 0}, "I9", "detail.marked"),
    "no mark": ("marked", 10, "detail", {"no_mark": False}, "I9", "detail.no_mark"),
    "a dispute": (
        "disputed",
        7,
        "detail",
        {"disputed": {"ordinal": 0, "is": False}},
        "I9",
        "detail.disputed",
    ),
    "a pause": ("paused", 2, "detail", {"paused": False}, "I9", "detail.paused"),
    "too late": ("completed", 11, "detail", {"too_late": None}, "I9", "detail.too_late"),
    "a proposer": ("approved", 6, "detail", {"proposed_by": "lena"}, "I9", "detail.proposed_by"),
    "a claim's fence": ("stopped", 8, "body", {"claim": 2}, "I12", "fence before"),
    "a reserve's fence": ("held", 3, "body", {"claim": 0}, "I12", "fence before"),
    "an outcome": ("failed", 4, "body", {"outcome": "ok"}, "I9", "detail.result"),
    "an outcome of no kind": ("failed", 4, "body", {"outcome": "perhaps"}, "I9", "body.outcome"),
    "a reported value": ("failed", 4, "body", {"value": "551"}, "I9", "detail.step"),
    "an ordinal": ("stopped", 8, "body", {"ordinal": 1}, "I9", "unsettled step"),
    "an ordinal far out": ("stopped", 8, "body", {"ordinal": 300}, "I9", "ordinal of receipt 8"),
    "a worker": ("held", 2, "body", {"worker": "w2"}, "claims", "worker of fence 1"),
    "a lease": ("held", 2, "body", {"ttl_seconds": 3600}, "I9", "lease_seconds"),
    "a cause": ("stopped", 4, "body", {"cause": "goal_met"}, "I9", "cancel_cause"),
    "a grace": ("stopped", 4, "body", {"grace_seconds": 3600}, "I9", "that the grace is over"),
    "a grace beyond the calendar": (
        "stopped",
        4,
        "body",
        {"grace_seconds": 10**12},
        "I9",
        "times of receipt 4",
    ),
    "a spec without steps": (
        "ready",
        1,
        "body",
        {"spec": {"queue": "mail", "owner": "", "dispatch": "marked", "parent": None, "steps": []}},
        "I9",
        "body.spec.steps",
    ),
    "a spec's digest": ("ready", 1, "body", {"spec_digest": "f" * 64}, "spec", "spec_digest of receipt 1"),
    "a spec": ("ready", 1, "body", {"spec": {"queue": "mail"}}, "I9", "body.spec of receipt 1"),
    "an attempt": ("held", 3, "body", {"attempt": "a2"}, "I9", "attempt of step 0"),
    "an entered outcome": ("waiting", 5, "body", {"outcome": "ok"}, "proposals", "outcome of proposal"),
    "entered evidence": (
        "waiting",
        5,
        "body",
        {"evidence": {"kind": "other"}},
        "proposals",
        "evidence of proposal",
    ),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forgery_with_right_digests_is_seen_by_the_replay(told: Story, what: str) -> None:
    job, seq, part, changes, rule, where = FORGED[what]
    with tampering():
        rewrite(job, seq, part, **changes)
        breaches = found()
    assert (job, rule, where) in {(b.job, b.rule, b.where[: len(where)]) for b in breaches}
    assert {breach.job for breach in breaches} == {job}
    assert "digest" not in {breach.rule for breach in breaches}


@pytest.mark.parametrize(
    ("job", "seq", "columns", "rule", "where"),
    [
        ("stopped", 8, {"status": "fenced"}, "I12", "that the reporting claim was lost"),
        ("failed", 4, {"status": "invented"}, "I9", "receipt 4 (report invented)"),
        ("failed", 1, {"kind": "observe", "status": "observed"}, "I9", "the first receipt"),
        ("completed", 8, {"status": "not_paused"}, "I9", "detail.paused"),
        ("stopped", 7, {"status": "requested"}, "I9", "control before receipt 7"),
        ("stopped", 4, {"status": "already_requested"}, "I7", "accepted cancels"),
        ("held", 3, {"ordinal": 1}, "I9", "ordinal of receipt 3"),
        ("approved", 6, {"ordinal": 1}, "I9", "ordinal of receipt 6"),
        ("approved", 6, {"actor_name": "sam"}, "proposals", "that somebody else approves"),
        ("stopped", 8, {"at": datetime(2020, 1, 1, tzinfo=UTC)}, "I10", "time of receipt 8"),
        ("failed", 4, {"job_ref": "another"}, "I10", "whose receipt 4"),
    ],
)
def test_forged_columns_with_right_digests(
    told: Story, job: str, seq: int, columns: dict[str, Any], rule: str, where: str
) -> None:
    with tampering():
        Receipt.objects.filter(job__job_id=job, seq=seq).update(**columns)
        rechain(job)
        assert (job, rule, where) in {(b.job, b.rule, b.where[: len(where)]) for b in found()}


def test_a_second_settling_receipt(told: Story) -> None:
    """I8: the outcome was written twice, and the rows were brought to the second one."""
    with tampering():
        Receipt.objects.filter(job__job_id="failed", seq=5).update(status="settled")
        rechain("failed")
        assert ("failed", "I8", "settling") in {named(breach) for breach in found()}


def test_receipts_without_a_job_stand_alone(told: Story) -> None:
    with tampering():
        alone = Receipt.objects.filter(kind="cancel", job__isnull=True)
        alone.update(prev_digest="0" * 64)
        assert {named(b) for b in found()} == {
            ("order-1@3", "I10", "prev_digest"),
            ("order-1@3", "digest", "digest"),
        }


def test_a_seal_that_no_receipt_tells(told: Story) -> None:
    with tampering():
        Tenant.objects.filter(name="acme").update(sealed_generation=9)
        Tenant.objects.filter(name="other").update(sealed_generation=F("sealed_generation") + 1)
        breaches = found()
    assert [(b.tenant, b.rule, b.expected, b.found) for b in breaches] == [
        ("acme", "seals", 7, 9),
        ("other", "seals", -1, 0),
    ]
