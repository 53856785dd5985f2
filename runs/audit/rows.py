"""Reads the tables for the audit: one snapshot, a few streams side by side, never a whole table in memory.

The streams are ordered by job, so that each job's rows are taken from all of them in one pass.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Model, QuerySet

from runs.models import Claim, Job, Proposal, Step
from runs.models import Receipt as ReceiptRow
from runs.models import snapshot as one_moment

from .cells import readable
from .receipts import Receipt

CHUNK = 2000
RECEIPT = (
    *("job_id", "tenant_id", "seq", "event_id", "job_ref", "kind", "status", "actor_type", "actor_name"),
    *("ordinal", "body", "detail", "at", "prev_digest", "digest"),
)


@contextmanager
def snapshot() -> Iterator[None]:
    """All that is read inside was true at one moment, and no writer waits for it."""
    with one_moment():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # our reader may be slow
            yield
        else:
            with _any_text():
                yield


@contextmanager
def _any_text() -> Iterator[None]:
    """SQLite keeps bytes that are no UTF-8 as text: they are read too, and no digest fits them."""
    connection.ensure_connection()
    raw: Any = connection.connection
    raw.text_factory = lambda text: text.decode(errors="surrogateescape")
    try:
        yield
    finally:
        raw.text_factory = str


class JobRows(NamedTuple):
    """A job's row, and its other rows as streams: take each once, in order."""

    job: Any
    tenant: str
    steps: Iterator[Any]
    receipts: Iterator[tuple[int, Receipt]]  #: with the id of the tenant it was written in
    claims: Iterator[Any]
    proposals: Iterator[Any]


class Lane:
    """Rows ordered by `job_id`, handed out job by job."""

    def __init__(self, rows: Iterator[Any]) -> None:
        self.rows = rows
        self.waiting = next(rows, None)

    def of(self, job: int) -> Iterator[Any]:
        """The rows of this job; those of earlier ids are passed over."""
        while self.waiting is not None and self.waiting.job_id <= job:
            row, self.waiting = self.waiting, next(self.rows, None)
            if row.job_id == job:
                yield row


def columns(model: type[Model], *more: str) -> tuple[str, ...]:
    return *(column.attname for column in model._meta.concrete_fields), *more


def lane(model: type[Model], order: str, only: str | None, names: tuple[str, ...]) -> Lane:
    rows: QuerySet[Any] = model._default_manager.filter(job__isnull=False)
    if only is not None:
        rows = rows.filter(job__job_id=only)
    return Lane(readable(rows).order_by("job_id", order).values_list(*names, named=True).iterator(CHUNK))


def jobs(only: str | None = None) -> Iterator[JobRows]:
    """Every job, or those called `only` (in any tenant), each with all that belongs to it."""
    steps = lane(Step, "ordinal", only, columns(Step))
    claims = lane(Claim, "fence", only, columns(Claim, "user__name"))
    proposals = lane(Proposal, "id", only, columns(Proposal, "by__name", "decided_by__name"))
    receipts = lane(ReceiptRow, "seq", only, RECEIPT)
    rows: QuerySet[Any] = Job.objects.all() if only is None else Job.objects.filter(job_id=only)
    more = ("tenant__name", "parent__job_id", "parent__tenant_id", "parent__depth")
    for job in readable(rows).order_by("id").values_list(*columns(Job, *more), named=True).iterator(CHUNK):
        found = ((row.tenant_id, receipt(row)) for row in receipts.of(job.id))
        yield JobRows(job, job.tenant__name, steps.of(job.id), found, claims.of(job.id), proposals.of(job.id))


def receipt(row: Any) -> Receipt:
    return Receipt(
        seq=row.seq,
        event_id=row.event_id,
        job_id=row.job_ref,
        kind=row.kind,
        status=row.status,
        actor_type=row.actor_type,
        actor_name=row.actor_name,
        ordinal=row.ordinal,
        body_text=row.body,
        detail_text=row.detail,
        at=row.at,
        prev_digest=row.prev_digest,
        digest=row.digest,
    )
