"""The ledger: what a receipt looks like, how it is appended to its job's chain, and what time it is.

Only `runs.commands` appends. Nothing here decides anything.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.db import connection

from runs.models import Job, Receipt, plain
from runs.protocol.canonical import NO_DIGEST, canonical, receipt_digest


def clock(read: datetime | None = None) -> datetime:
    """The time now, in UTC: PostgreSQL's clock_timestamp(), on SQLite this process's clock. `read`: what a
    statement that reads more has just found in its column `time_now()`; without it, one of its own is sent.

    Never `now()`: that is when the transaction began, before it waited for its locks.
    """
    if connection.vendor != "postgresql":
        return datetime.now(UTC)
    if read is None:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {time_now()}")
            read = cursor.fetchone()[0]
    return read.astimezone(UTC)


def time_now() -> str:
    """The clock as a column of a statement."""
    return "clock_timestamp()" if connection.vendor == "postgresql" else "NULL"


def as_text(time: datetime) -> str:
    """`YYYY-MM-DDTHH:MM:SS.ffffffZ`."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def ready(value: Any) -> Any:
    """`value` as JSON can carry it: times as text, enums as their words."""
    if isinstance(value, datetime):
        return as_text(value)
    if isinstance(value, Mapping):
        return {str(key): ready(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [ready(item) for item in value]
    return str(value) if isinstance(value, str) else value


def shown(receipt: Receipt) -> dict[str, Any]:
    """A receipt exactly as the API shows it (PROTOCOL section 3): what its digest was made of, and the
    digest."""
    return {
        "seq": receipt.seq,
        "event_id": receipt.event_id,
        "job_id": receipt.job_ref,
        "kind": receipt.kind,
        "status": receipt.status,
        "actor": {"type": receipt.actor_type, "name": receipt.actor_name},
        "ordinal": receipt.ordinal,
        "body": json.loads(receipt.body),
        "detail": json.loads(receipt.detail),
        "at": as_text(receipt.at),
        "prev_digest": receipt.prev_digest,
        "digest": receipt.digest,
    }


def append(
    tenant_id: int,
    job: Job | None,
    job_ref: str | None,
    *,
    seq: int | None,
    event_id: str | None,
    kind: str,
    status: str,
    actor: Mapping[str, str],
    ordinal: int | None,
    body: Mapping[str, Any],
    detail: Mapping[str, Any],
    at: datetime,
) -> dict[str, Any]:
    """Write the next receipt of `job` (its row is locked, and gets the new head), or one without a job.

    Returns the receipt as the API shows it.
    """
    receipt = {
        "seq": seq,
        "event_id": event_id,
        "job_id": job_ref,
        "kind": kind,
        "status": status,
        "actor": dict(actor),
        "ordinal": ordinal,
        "body": ready(body),
        "detail": ready(detail),
        "at": as_text(at),
        "prev_digest": job.head_digest if job else "",
    }
    receipt["digest"] = receipt_digest(receipt)
    plain.insert(
        Receipt(
            tenant_id=tenant_id,
            job=job,
            job_ref=job_ref,
            seq=seq,
            event_id=event_id,
            kind=kind,
            status=status,
            actor_type=actor["type"],
            actor_name=actor["name"],
            ordinal=ordinal,
            body=canonical(receipt["body"]),
            detail=canonical(receipt["detail"]),
            at=at,
            prev_digest=receipt["prev_digest"],
            digest=receipt["digest"],
        )
    )
    if job and seq is not None:
        job.seq, job.head_digest, job.updated_at = seq, receipt["digest"], at
    return receipt


__all__ = ["NO_DIGEST", "append", "as_text", "clock", "ready", "shown"]
