"""Seeded jobs: every state is there, both ways leave the same behind, and it is clean."""

import json
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from runs.audit import breaches, snapshot
from runs.models import Claim, Job, Proposal, Receipt, Step, Tenant
from runs.protocol.headline import headline
from runs.protocol.states import Control, Result, State
from runs.seeding import Cast, in_bulk
from runs.seeding.bulk import Memory
from runs.seeding.deck import Deck
from runs.seeding.real import Commands
from runs.seeding.rows import store
from runs.seeding.stories import BRIEF, LONG
from runs.seeding.told import Kept
from tests.support.databases import Database

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
ONCE = sum(story.jobs for story in BRIEF)
HEADLINES = """ready working outcome_unknown paused verifying verifying_unknown stopping stopped
    completed_despite_cancel stopped_after_failure blocked_before_start completed failed
    completed_cancel_too_late failed_cancel_too_late"""


def clean() -> list[str]:
    with snapshot():
        return [str(breach) for breach in breaches()]


def of(job: Job) -> str:
    states = Control(job.control), Result(job.result), State(job.cur)
    return headline(job.admitted, *states, job.paused_at is not None, job.too_late)


def test_in_bulk_every_state_is_there_and_it_is_clean(real_db: Database) -> None:
    cast = Cast.of("acme")
    assert list(in_bulk(cast, 150, 0, NOW)) == [150]
    assert clean() == []
    jobs = list(Job.objects.all())
    assert {of(job) for job in jobs} == set(HEADLINES.split())
    assert {job.dispatch for job in jobs} == {"marked", "unmarked"}
    assert Job.objects.filter(disputed__gt=0).exists()
    assert Job.objects.filter(no_mark__gt=0).exists()
    assert Job.objects.filter(blocked_submits__gt=0, admitted=False).exists()
    assert Job.objects.filter(cur="inflight", lease_expires_at__gt=NOW).exists()
    assert Job.objects.filter(cur="inflight", lease_expires_at__lt=NOW - timedelta(minutes=1)).exists()
    assert Step.objects.filter(testimony__gt=0).exists()
    assert {*Proposal.objects.values_list("state", flat=True)} == {"open", "approved", "declined", "expired"}
    assert len(set(Job.objects.values_list("queue", flat=True))) == 4
    assert max(job.updated_at for job in jobs) <= NOW
    assert max(job.created_at for job in jobs) - min(job.created_at for job in jobs) > timedelta(days=25)


def test_a_batch_is_stored_before_the_next_is_told(
    real_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.seeding.bulk.BATCH", 20)
    stored = []
    for told in in_bulk(Cast.of("acme"), 100, 0, NOW):
        stored.append(Job.objects.count())
        assert told == stored[-1]
    assert len(stored) >= 4
    assert Receipt.objects.filter(event_id__regex=r"^s0\.[0-9]+\.[1-9]$").exists(), "some happened alike"
    assert clean() == []


def test_both_ways_leave_the_same_behind(real_db: Database) -> None:
    """Each story that needs no time is told by the real commands and in memory: receipts and rows agree."""
    real, told = Cast.of("real"), Cast.of("told")
    commands = Deck(real, Commands(real), 5, BRIEF)
    memory = Memory(told, Random(0), NOW)
    bulk = Deck(told, memory, 5, BRIEF)
    for deck in (commands, bulk):
        while deck.waiting:
            deck.tell(at_most=3)
    store(told.tenant, list(memory.jobs.values()))
    assert commands.told == bulk.told == ONCE
    assert clean() == []
    for model in (Job, Step, Claim, Proposal):
        assert rows(model, real.tenant) == rows(model, told.tenant)
    assert receipts(real.tenant) == receipts(told.tenant)


def rows(model: Any, tenant: Tenant) -> list[Any]:
    """All rows of the tenant, in comparable form, with the job id in the place of the job's number."""
    columns = [field for field in model._meta.concrete_fields if field.name not in ("id", "tenant")]
    found = model.objects.filter(tenant=tenant).select_related()
    return sorted(([(field.name, plain(field, row)) for field in columns] for row in found), key=str)


def plain(field: Any, row: Any) -> Any:
    """Of times, digests and ids that differ between two runs, only whether there is one."""
    if field.name in ("job", "parent", "user", "by", "decided_by"):
        return str(getattr(row, field.name))
    value = getattr(row, field.name)
    by_chance = field.name in ("claim_hash", "head_digest", "token_hash", "proposal_id")
    return value if not by_chance and not isinstance(value, datetime) else bool(value)


def receipts(tenant: Tenant) -> list[Any]:
    kept = Receipt.objects.filter(tenant=tenant).order_by("job_ref", "seq")
    return [_comparable(receipt) for receipt in kept]


def _comparable(receipt: Receipt) -> list[Any]:
    body, detail = json.loads(receipt.body), json.loads(receipt.detail)
    given = detail.pop("grant", None) is not None
    for part in (body, detail, detail.get("answer", {})):
        if "proposal" in part:
            part["proposal"] = "p"  # its id is made of the tenant's name
    who = receipt.actor_name
    columns = [receipt.job_ref, receipt.seq, receipt.event_id, receipt.kind, receipt.status, receipt.ordinal]
    return [*columns, receipt.actor_type, who, given, body, detail]


def test_the_same_seed_tells_the_same(real_db: Database) -> None:
    cast = Cast.of("acme")

    def kept(seed: int) -> list[list[Kept]]:
        memory = Memory(cast, Random(0), NOW)
        deck = Deck(cast, memory, seed, BRIEF + LONG)
        for _ in range(60):
            deck.tell(at_most=3)
        return [told.receipts for told in memory.jobs.values()]

    assert kept(1) == kept(1)
    assert kept(1) != kept(2)


def test_the_command_through_the_real_commands(real_db: Database, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("seed", jobs=ONCE)
    assert capsys.readouterr().out == f"{ONCE} jobs in tenant acme\n"
    assert {of(job) for job in Job.objects.all()} == set(HEADLINES.split())
    assert clean() == []


def test_the_command_in_bulk(
    real_db: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("runs.management.commands.seed.FEW", 10)
    Tenant.objects.create(name="only", sealed_generation=6)
    call_command("seed", jobs=50, seed=3)
    assert capsys.readouterr().out == "50 jobs in tenant only\n"
    assert Job.objects.filter(job_id__startswith="s3-", job_id__endswith="@7", generation=7).count() == 50


def test_wrong_use_is_exit_2(real_db: Database) -> None:
    call_command("seed", jobs=1, tenant="one")
    for wrong in ({"jobs": 1}, {"jobs": 1, "tenant": "one", "seed": 0}):
        if "tenant" not in wrong:
            Tenant.objects.create(name="two")
        with pytest.raises(CommandError) as refused:
            call_command("seed", **wrong)
        assert refused.value.returncode == 2
    with pytest.raises(CommandError):
        call_command("seed", "--jobs", "0")
