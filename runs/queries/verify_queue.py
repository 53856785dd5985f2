"""The Verify queue: jobs with a cancel requested and a step still out, longest waiting first, as their
reader may see them. Pages are keysets, never offsets. Its figures: `figures.py`.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core import signing
from django.db.models import F, QuerySet
from django.db.models.fields.tuple_lookups import TupleGreaterThan

from runs.errors import FieldError, Invalid
from runs.models import Job, Proposal, Step, snapshot
from runs.permissions import Actor, visible

from .approvals import open_entries
from .shape import shapes

PAGE = 50
SALT = "runs.queries.verify_queue"

#: How long a job has waited, by the name that addresses use: at least, and less than.
_bounds = {
    name: timedelta(minutes=n)
    for name, n in {
        "0": 0,
        "5m": 5,
        "15m": 15,
        "30m": 30,
        "1h": 60,
        "4h": 240,
        "12h": 720,
        "24h": 1440,
    }.items()
}
WAITS: dict[str, tuple[timedelta, timedelta | None]] = dict(
    zip(_bounds, zip(_bounds.values(), [*list(_bounds.values())[1:], None], strict=True), strict=True)
)


@dataclass(frozen=True)
class Row:
    """A job, and the entry that waits for a second person. `left`: where it is no longer
    in the queue, the ordinal of the step that changed last."""

    job: Job
    shape: dict[str, Any]
    waits: Proposal | None = None
    left: int | None = None

    @property
    def waiting_by(self) -> str:
        return self.waits.by.name if self.waits else ""

    @property
    def sent_at(self) -> datetime | None:
        """When its step went out: by its mark; in an unmarked job, when it was handed out."""
        ordinal = self.shape["unsettled"]
        if self.job.dispatch != "marked":
            return self.job.unsettled_since
        marked = None if ordinal is None else self.shape["steps"][ordinal]["dispatched_at"]
        return datetime.fromisoformat(marked) if marked else None


@dataclass(frozen=True)
class Wanted:
    """The filters of the page: empty does not narrow."""

    queue: str = ""
    system: str = ""
    customer: str = ""
    state: str = ""  #: unknown, inflight or waiting
    waits: str = ""  #: one of WAITS

    def narrow(self, jobs: QuerySet[Job], now: datetime) -> QuerySet[Job]:
        if "\0" in self.queue + self.system + self.customer:
            return jobs.none()  # nothing is called like that, and PostgreSQL does not take it
        if self.queue:
            jobs = jobs.filter(queue=self.queue)
        if self.customer:
            jobs = jobs.filter(owner=self.customer)
        if self.system:
            jobs = jobs.filter(steps__tool=self.system, steps__ordinal=F("position"))
        if self.waits:
            if self.waits not in WAITS:
                return jobs.none()
            at_least, under = WAITS[self.waits]
            jobs = jobs.filter(unsettled_since__lte=now - at_least)
            jobs = jobs.filter(unsettled_since__gt=now - under) if under else jobs
        if self.state in ("unknown", "inflight"):
            jobs = jobs.filter(cur=self.state)
        if self.state == "waiting":
            jobs = jobs.filter(pk__in=open_entries(now).values("job"))
        return jobs


def unverified(actor: Actor, now: datetime) -> QuerySet[Job]:
    waiting = Job.objects.filter(
        tenant_id=actor.tenant_id, control="requested", unsettled_since__isnull=False
    )
    return visible(waiting, actor, now)


@snapshot()
def rows(actor: Actor, wanted: Wanted, cursor: str, now: datetime) -> tuple[list[Row], str]:
    """A page and the cursor after it ("" at the end). Raises Invalid for a cursor that is none of ours."""
    found = list(_after(actor, wanted, cursor, now).select_related("tenant")[: PAGE + 1])
    after = ""
    if len(found) > PAGE:
        found = found[:PAGE]
        after = signing.dumps([str(found[-1].unsettled_since), found[-1].pk], salt=SALT)
    return _rows(found, now), after


def job_ids(actor: Actor, wanted: Wanted, cursor: str, now: datetime) -> list[str]:
    """The jobs that this page of the list shows now. Raises as `rows`."""
    return list(_after(actor, wanted, cursor, now).values_list("job_id", flat=True)[:PAGE])


@snapshot()
def these(actor: Actor, job_ids: list[str], now: datetime) -> list[Row]:
    """The present rows of these jobs, whether or not they still belong into the queue, longest waiting
    first; the invisible are left out."""
    named = Job.objects.filter(tenant_id=actor.tenant_id, job_id__in=job_ids)
    return _rows(list(visible(named, actor, now).select_related("tenant").order_by("id")), now)


def _after(actor: Actor, wanted: Wanted, cursor: str, now: datetime) -> QuerySet[Job]:
    jobs = wanted.narrow(unverified(actor, now), now)
    if cursor:
        jobs = jobs.filter(TupleGreaterThan((F("unsettled_since"), F("id")), _read(cursor)))
    return jobs.order_by("unsettled_since", "id")


def _rows(jobs: list[Job], now: datetime) -> list[Row]:
    if not jobs:
        return []
    entries = open_entries(now).filter(job__in=jobs).select_related("by")
    waiting = {entry.job_id: entry for entry in entries}
    left = _changed_last([job for job in jobs if job.control != "requested" or not job.unsettled_since])
    return [
        Row(job, shape, waiting.get(job.pk), left.get(job.pk))
        for job, shape in zip(jobs, shapes(jobs, now), strict=True)
    ]


def _changed_last(jobs: list[Job]) -> dict[int, int]:
    """By the job's row: the ordinal of the step with the newest version."""
    if not jobs:
        return {}
    changed = Step.objects.filter(job__in=jobs, version__gt=0).order_by("version")
    return dict(changed.values_list("job_id", "ordinal"))


def _read(cursor: str) -> tuple[datetime, int]:
    try:
        at, pk = signing.loads(cursor, salt=SALT)
    except signing.BadSignature:
        raise Invalid(
            FieldError("cursor", "was not given out by this list: begin again without it")
        ) from None
    return datetime.fromisoformat(at), pk
