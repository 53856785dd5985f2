"""One column at a time is changed by hand, in every table but the receipts': audit names job and column."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db.models import Model

from runs.models import Claim, Job, Proposal, Step, Tenant, User

from .cast import Story
from .tampering import found, named, tampering

WHEN = datetime(2020, 1, 1, tzinfo=UTC)
OTHER = object()  # stands for the primary key of another row of the table that is referred to

#: column: (job, the value that is put there, the rule, the words that `where` begins with)
JOB: dict[str, tuple[str, Any, str, str]] = {
    "tenant_id": ("ready", OTHER, "I10", "whose"),
    "job_id": ("ready", "renamed", "I10", "whose"),
    "queue": ("ready", "books", "spec", "queue"),
    "owner": ("ready", "customer-2", "spec", "owner"),
    "dispatch": ("ready", "marked", "spec", "dispatch"),
    "parent_ref": ("child", "elsewhere", "spec", "parent_ref"),
    "parent_id": ("child", OTHER, "spec", "parent and its tenant"),
    "depth": ("child", 3, "spec", "depth"),
    "has_children": ("parent", False, "I5", "has_children"),
    "generation": ("ready", 8, "spec", "generation"),
    "spec_digest": ("ready", "f" * 64, "spec", "spec_digest"),
    "title": ("ready", "Another title", "spec", "title"),
    "admitted": ("ready", False, "I9", "admitted"),
    "control": ("ready", "requested", "I7", "accepted cancels in the ledger"),
    "result": ("ready", "succeeded", "I3", "result, by its steps"),
    "paused_at": ("paused", WHEN, "I9", "paused_at"),
    "paused_seq": ("paused", 1, "I9", "paused_seq"),
    "paused_cause": ("paused", "other", "I9", "paused_cause"),
    "n_steps": ("ready", 2, "spec", "n_steps"),
    "position": ("ready", 1, "I9", "position"),
    "cur": ("held", "unknown", "I9", "cur"),
    "unsettled_since": ("held", WHEN, "I9", "unsettled_since"),
    "disputed": ("disputed", 0, "I9", "disputed"),
    "no_mark": ("marked", 0, "I9", "no_mark"),
    "cancel_seq": ("stopped", 2, "I9", "cancel_seq"),
    "cancel_cause": ("stopped", "goal_met", "I9", "cancel_cause"),
    "cancel_note": ("completed", "no hurry", "I9", "cancel_note"),
    "cancel_asked_by": ("completed", "nobody", "I9", "cancel_asked_by"),
    "cancel_by": ("stopped", "sam", "I9", "cancel_by"),
    "cancel_at": ("stopped", WHEN, "I9", "cancel_at"),
    "grace_until": ("stopped", WHEN, "I9", "grace_until"),
    "escalated_seq": ("stopped", None, "I9", "escalated_seq"),
    "too_late": ("completed", False, "I9", "too_late"),
    "fence": ("held", 2, "I9", "fence"),
    "holder": ("held", "w2", "I9", "holder"),
    "claim_hash": ("held", "f" * 64, "claims", "claim_hash"),
    "lease_seconds": ("held", 3600, "I9", "lease_seconds"),
    "seq": ("held", 2, "I9", "seq"),
    "head_digest": ("held", "f" * 64, "I9", "head_digest"),
    "created_at": ("held", WHEN, "I9", "created_at"),
    "updated_at": ("held", WHEN, "I9", "updated_at"),
}
#: When the lease ends, what was offered and heard, counters (I9 leaves them out); the row's own number.
JOB_FREE = ["id", "lease_expires_at", "heartbeat_at", "heard_seq", "heard_at", "blocked_submits"]
JOB_FREE += ["blocked_at", "offered_seq", "offered_at", "offered_by"]

STEP: dict[str, tuple[str, Any, str, str]] = {
    "tenant_id": ("ready", OTHER, "spec", "tenant of step 0"),
    "job_id": ("ready", OTHER, "spec", "ordinals of the stored steps"),
    "ordinal": ("ready", 7, "spec", "ordinals of the stored steps"),
    "label": ("ready", "Send another", "spec", "label of step 0"),
    "tool": ("ready", "smtp/3", "spec", "tool of step 0"),
    "target": ("ready", "eve@example.test", "spec", "target of step 0"),
    "params": ("ready", '{"amount":1000}', "spec", "params of step 0"),
    "state": ("held", "unknown", "I9", "state of step 0"),
    "value": ("failed", "551", "I8", "outcome and value of step 0"),
    "reserved_by": ("disputed", 2, "I9", "reserved_by of step 0"),
    "reserved_at": ("held", WHEN, "I9", "reserved_at of step 0"),
    "attempt": ("held", "a2", "I9", "attempt of step 0"),
    "dispatched_at": ("marked", WHEN, "I9", "dispatched_at of step 0"),
    "dispatch_attempt": ("marked", "a9", "I9", "dispatch_attempt of step 0"),
    "said_unknown": ("lapsed", False, "I9", "said_unknown of step 0"),
    "put_back": ("lapsed-back", False, "I9", "put_back of step 0"),
    "disputed": ("disputed", False, "I9", "disputed of step 0"),
    "no_mark": ("doubted", False, "I9", "no_mark of step 0"),
    "testimony": ("doubted", 0, "I9", "testimony of step 0"),
    "closed_seq": ("disputed", 0, "I9", "closed_seq of step 0"),
    "settled_type": ("failed", "person", "I9", "settled_type of step 0"),
    "settled_by": ("failed", "sam", "I9", "settled_by of step 0"),
    "settled_seq": ("failed", 3, "I9", "settled_seq of step 0"),
    "version": ("held", 1, "I9", "version of step 0"),
}
CLAIM: dict[str, tuple[str, Any, str, str]] = {
    "tenant_id": ("held", OTHER, "claims", "tenant_id of fence 1"),
    "job_id": ("held", OTHER, "I12", "claims row of fence 1"),
    "fence": ("held", 5, "I12", "claims row of fence 5"),
    "worker": ("held", "w2", "claims", "worker of fence 1"),
    "token_hash": ("held", "", "claims", "token_hash of fence 1"),
    "user_id": ("held", OTHER, "claims", "user__name of fence 1"),
    "cause": ("held", "other", "claims", "cause of fence 1"),
    "at": ("held", WHEN, "claims", "at of fence 1"),
}
PROPOSAL: dict[str, tuple[str, Any, str, str]] = {
    "tenant_id": ("waiting", OTHER, "proposals", "tenant_id of proposal"),
    "job_id": ("waiting", OTHER, "proposals", "row of proposal"),
    "ordinal": ("waiting", 1, "proposals", "ordinal of proposal"),
    "proposal_id": ("waiting", "p-another", "proposals", "row of proposal p-another"),
    "seq": ("waiting", 1, "proposals", "seq of proposal"),
    "outcome": ("waiting", "ok", "proposals", "outcome of proposal"),
    "value": ("waiting", "250", "proposals", "value of proposal"),
    "evidence": ("waiting", "{}", "proposals", "evidence of proposal"),
    "version": ("waiting", 1, "proposals", "version of proposal"),
    "state": ("declined", "approved", "proposals", "state of proposal"),
    "by_id": ("waiting", OTHER, "proposals", "by__name of proposal"),
    "at": ("waiting", WHEN, "proposals", "at of proposal"),
    "expires_at": ("waiting", WHEN, "proposals", "expires_at of proposal"),
    "decided_by_id": ("approved", OTHER, "proposals", "decided_by__name of proposal"),
    "decided_at": ("approved", WHEN, "proposals", "decided_at of proposal"),
}
TABLES: list[tuple[type[Model], dict[str, tuple[str, Any, str, str]], list[str]]] = [
    (Job, JOB, JOB_FREE),
    (Step, STEP, ["id"]),
    (Claim, CLAIM, ["id"]),
    (Proposal, PROPOSAL, ["id"]),
]
CASES = [(model, column, *case) for model, cases, _ in TABLES for column, case in cases.items()]


def another(column: str) -> int:
    """A row that is there, and is not the one that belongs there."""
    if column == "tenant_id":
        return Tenant.objects.get(name="other").pk
    if column in ("job_id", "parent_id"):
        return Job.objects.get(job_id="buried").pk
    return User.objects.get(name="p2").pk


@pytest.mark.parametrize(("model", "column", "job", "value", "rule", "where"), CASES)
def test_a_column_changed_by_hand_is_named(
    told: Story, model: type[Model], column: str, job: str, value: Any, rule: str, where: str
) -> None:
    with tampering():
        rows = model._default_manager.filter(**{"job_id" if model is Job else "job__job_id": job})
        row = rows.order_by("-pk" if column == "job_id" else "pk").first()
        assert row is not None
        put = another(column) if value is OTHER else value
        model._default_manager.filter(pk=row.pk).update(**{column: put})
        breaches = found()
    whose = {breach.job for breach in breaches}
    assert (rule, where) in {(breach.rule, breach.where[: len(where)]) for breach in breaches}
    assert whose <= {job, "renamed", "buried"}, "nothing is said of jobs that nobody touched"
    assert whose


@pytest.mark.parametrize(("model", "cases", "free"), TABLES)
def test_no_column_is_forgotten(model: type[Model], cases: dict[str, Any], free: list[str]) -> None:
    assert sorted([*cases, *free]) == sorted(field.attname for field in model._meta.concrete_fields)


@pytest.mark.parametrize(
    ("model", "job", "rule", "where"),
    [
        (Step, "ready", "spec", "ordinals"),
        (Claim, "held", "I12", "claims"),
        (Proposal, "waiting", "proposals", "row"),
        (Job, "ready", "I9", "job"),
    ],
)
def test_a_missing_row_is_named(told: Story, model: type[Model], job: str, rule: str, where: str) -> None:
    with tampering():
        rows = model._default_manager.filter(**{"job_id" if model is Job else "job__job_id": job})
        rows._raw_delete(rows.db)
        breaches = {named(breach) for breach in found()}
    assert (None if model is Job else job, rule, where) in breaches
