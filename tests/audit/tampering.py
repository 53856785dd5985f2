"""What an owner of the database can do: triggers, checks and uniqueness out of the way, then any change.

Everything inside `tampering()` is rolled back at its end.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

from runs.audit import Breach, breaches
from runs.ledger import shown
from runs.models import Job, Receipt
from runs.protocol.canonical import NO_DIGEST, canonical, receipt_digest


@contextmanager
def tampering() -> Iterator[None]:
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in guards_down():
            cursor.execute(statement)
        try:
            yield
        finally:
            transaction.set_rollback(True)
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA ignore_check_constraints = OFF")


INDEXES = [f"DROP INDEX {name}" for name in ("event_once", "receipt_seq_once", "step_one_unsettled")]


def guards_down() -> list[str]:
    if connection.vendor == "sqlite":
        triggers = _names("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'cb_receipt%'")
        return [
            *(f"DROP TRIGGER {name}" for (name,) in triggers),
            *INDEXES,
            "PRAGMA ignore_check_constraints = ON",
        ]
    checks = _names(
        "SELECT conrelid::regclass, conname FROM pg_constraint "
        "WHERE contype = 'c' AND conrelid::regclass::text ~ '^runs_(job|step|receipt|proposal)$'"
    )
    dropped = [f"ALTER TABLE {table} DROP CONSTRAINT {name}" for table, name in checks]
    return ["ALTER TABLE runs_receipt DISABLE TRIGGER USER", *INDEXES, *dropped]


def _names(query: str) -> list[tuple[str, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


def found() -> list[Breach]:
    return list(breaches())


def named(breach: Breach) -> tuple[str | None, str, str]:
    """Job, rule, and the first word of where: what a case below expects."""
    return breach.job, breach.rule, breach.where.split()[0]


def rechain(job_id: str) -> None:
    """Makes every digest of a job right again, as somebody would who knows how: only the replay can tell."""
    job, head = Job.objects.get(job_id=job_id), NO_DIGEST
    for receipt in Receipt.objects.filter(job=job).order_by("seq"):
        before, head = head, receipt_digest(shown(receipt) | {"prev_digest": head})
        Receipt.objects.filter(pk=receipt.pk).update(prev_digest=before, digest=head)
    Job.objects.filter(pk=job.pk).update(head_digest=head)


def rewrite(job_id: str, seq: int, part: str, **changes: Any) -> None:
    """Changes what a receipt's body or detail says, and covers the traces."""
    receipt = Receipt.objects.get(job__job_id=job_id, seq=seq)
    text = canonical(json.loads(getattr(receipt, part)) | changes)
    Receipt.objects.filter(pk=receipt.pk).update(**{part: text})
    rechain(job_id)
