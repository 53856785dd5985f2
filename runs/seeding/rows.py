"""Jobs that were told in memory, as rows: a batch in one transaction, table by table, in plain SQL.

Django's own `bulk_create` takes three times as long; the columns it would fill are all named here.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from runs.models import Claim, Job, Proposal, Receipt, Step, Tenant
from runs.permissions import lock_shared
from runs.protocol.canonical import canonical

from .receipts import chain
from .told import Member, Told

Row = dict[str, Any]
JOB_SAME = (
    *("paused_at", "paused_seq", "paused_cause", "position", "fence", "holder", "lease_seconds"),
    *("lease_expires_at", "too_late", "escalated_seq", "heard_seq", "heard_at", "blocked_submits"),
    *("blocked_at", "admitted", "n_steps", "seq", "control", "result"),
)
STEP_SAME = (
    *("reserved_by", "attempt", "dispatched_at", "dispatch_attempt", "said_unknown", "put_back"),
    *("disputed", "no_mark", "value", "version"),
)
CANCEL = ("seq", "cause", "note", "asked_by", "by", "at")
NO_CANCEL = {
    "cancel_seq": None,
    "cancel_cause": "",
    "cancel_note": "",
    "cancel_asked_by": "",
    "cancel_by": "",
}
RECEIPT_SAME = ("seq", "event_id", "kind", "status", "ordinal", "prev_digest", "digest")


@transaction.atomic(durable=True)
def store(tenant: Tenant, told: list[Told]) -> None:
    """All rows of these jobs and of those like them; a parent is stored with its children."""
    lock_shared(tenant.pk)
    members = [(one, member) for one in told for member in one.members]
    for (one, member), number in zip(members, _numbers(len(members)), strict=True):
        member.pk = number
        chain(one.receipts, member)
    for model, rows_of in TABLES.items():
        rows = ((row, member.back) for one, member in members for row in rows_of(one, member))
        _insert(model, tenant.pk, rows)


def _numbers(count: int) -> list[int]:
    """The next primary keys of jobs: PostgreSQL's sequence gives them; on SQLite nobody else writes now."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            of_jobs = "SELECT nextval(pg_get_serial_sequence('runs_job', 'id')) FROM generate_series(1, %s)"
            cursor.execute(of_jobs, [count])
            return [number for (number,) in cursor.fetchall()]
        cursor.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'runs_job'")
        last = cursor.fetchone()[0]
    return list(range(last + 1, last + 1 + count))


def _insert(model: Any, tenant_id: int, rows: Iterator[tuple[Row, timedelta]]) -> None:
    """Writes the rows, each with all its times so much earlier."""
    adapt, names, values = connection.ops.adapt_datetimefield_value, [""], []
    for told, back in rows:
        names = ["tenant_id", *told]
        times = (adapt(value - back) if type(value) is datetime else value for value in told.values())
        values.append([tenant_id, *times])
    quote = connection.ops.quote_name
    into = f"{quote(model._meta.db_table)} ({', '.join(map(quote, names))})"
    with connection.cursor() as cursor:
        if values and connection.vendor == "postgresql":
            with cursor.copy(f"COPY {into} FROM STDIN") as copy:
                for row in values:
                    copy.write_row(row)
        elif values:
            places = ", ".join(["%s"] * len(names))
            cursor.executemany(f"INSERT INTO {into} VALUES ({places})", values)  # noqa: S608 (our own names)


def _job(told: Told, member: Member) -> Iterator[Row]:
    job, spec = told.job, told.spec
    assert job is not None
    assert spec is not None
    cancel = {f"cancel_{name}": getattr(job.cancel, name) for name in CANCEL} if job.cancel else NO_CANCEL
    yield {
        "id": member.pk,
        "job_id": member.job_id,
        "queue": spec.queue,
        "owner": spec.owner,
        "dispatch": spec.dispatch,
        "parent_ref": spec.parent or "",
        "parent_id": told.parent.members[0].pk if told.parent else None,
        "depth": told.depth,
        "has_children": bool(told.children),
        "generation": told.generation,
        "spec_digest": spec.digest,
        "title": spec.steps[0].label,
        "cur": job.current,
        "unsettled_since": told.unsettled_since,
        "disputed": sum(step.disputed for step in job.steps.values()),
        "no_mark": sum(step.no_mark for step in job.steps.values()),
        "grace_until": job.cancel.grace_until if job.cancel else None,
        "cancel_at": None,
        **cancel,
        "claim_hash": told.claim_hash,
        "heartbeat_at": told.heartbeat_at,
        "head_digest": member.receipts[-1]["digest"],
        "created_at": told.receipts[0].at,
        "updated_at": told.receipts[-1].at,
        **{name: getattr(job, name) for name in JOB_SAME},
    }


def _steps(told: Told, member: Member) -> Iterator[Row]:
    assert told.job is not None
    for ordinal, step in told.job.steps.items():
        by_type, by, seq = told.settled.get(ordinal, ("", "", None))
        yield {
            "job_id": member.pk,
            "ordinal": ordinal,
            "label": step.content["label"],
            "tool": step.content["tool"],
            "target": step.content["target"],
            "params": canonical(step.content["params"]),
            "state": told.job.state(ordinal),
            "reserved_at": told.reserved_at.get(ordinal),
            "testimony": len(step.testimony),
            "closed_seq": told.closed.get(ordinal, 0),
            "settled_type": by_type,
            "settled_by": by,
            "settled_seq": seq,
            **{name: getattr(step, name) for name in STEP_SAME},
        }


def _claims(told: Told, member: Member) -> Iterator[Row]:
    for fence in told.fences:
        yield {"job_id": member.pk, **fence._asdict()}


def _proposals(told: Told, member: Member) -> Iterator[Row]:
    for name, entered in told.proposals.items():
        now = entered.now
        yield {
            "job_id": member.pk,
            "proposal_id": name,
            "ordinal": now.ordinal,
            "outcome": now.outcome,
            "value": now.value,
            "version": now.version,
            "state": now.state,
            "expires_at": now.expires_at,
            "evidence": canonical(entered.evidence.model_dump()),
            "seq": entered.seq,
            "by_id": entered.by_id,
            "at": entered.at,
            "decided_by_id": entered.decided_by_id,
            "decided_at": entered.decided_at,
        }


def _receipts(told: Told, member: Member) -> Iterator[Row]:
    for kept, shown in zip(told.receipts, member.receipts, strict=True):
        yield {
            "job_id": member.pk,
            "job_ref": member.job_id,
            "actor_type": shown["actor"]["type"],
            "actor_name": shown["actor"]["name"],
            "body": kept.body,
            "detail": kept.detail,
            "at": kept.at,
            **{name: shown[name] for name in RECEIPT_SAME},
        }


TABLES: dict[Any, Callable[[Told, Member], Iterator[Row]]] = {
    Job: _job,
    Step: _steps,
    Claim: _claims,
    Proposal: _proposals,
    Receipt: _receipts,
}
