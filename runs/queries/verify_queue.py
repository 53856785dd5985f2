"""The Verify queue: jobs with a cancel requested and a step still out, longest waiting first, as their
reader may see them. Counts are capped and say so; pages are keysets, never offsets.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core import signing
from django.db.models import F, Q, QuerySet
from django.db.models.fields.tuple_lookups import TupleGreaterThan

from runs.errors import FieldError, Invalid
from runs.ledger import clock
from runs.models import Job, Proposal, Queue, Receipt, Step
from runs.permissions import Action, Actor, visible

from .shape import shapes

PAGE = 50
CAP = 5000  #: counted to this, then "5,000+"
SALT = "runs.queries.verify_queue"


@dataclass(frozen=True)
class Row:
    """A job in the queue, the moment its step went out, whether an entry waits, and who entered it."""

    job: Job
    shape: dict[str, Any]
    sent_at: datetime
    limit_seconds: int
    waiting_by: str = ""


@dataclass(frozen=True)
class Wanted:
    """The filters of the page: empty does not narrow."""

    queue: str = ""
    system: str = ""
    customer: str = ""
    state: str = ""  #: unknown, inflight or waiting

    def narrow(self, jobs: QuerySet[Job], now: datetime) -> QuerySet[Job]:
        if self.queue:
            jobs = jobs.filter(queue=self.queue)
        if self.customer:
            jobs = jobs.filter(owner=self.customer)
        if self.system:
            jobs = jobs.filter(steps__tool=self.system, steps__ordinal=F("position"))
        if self.state in ("unknown", "inflight"):
            jobs = jobs.filter(cur=self.state)
        if self.state == "waiting":
            jobs = jobs.filter(pk__in=Proposal.objects.filter(state="open", expires_at__gt=now).values("job"))
        return jobs


def unverified(actor: Actor, now: datetime) -> QuerySet[Job]:
    waiting = Job.objects.filter(
        tenant_id=actor.tenant_id, control="requested", unsettled_since__isnull=False
    )
    return visible(waiting, actor, now)


def rows(actor: Actor, wanted: Wanted, cursor: str = "") -> tuple[list[Row], str, datetime]:
    """A page, the cursor after it ("" at the end), and when it was read. Raises Invalid for a foreign
    cursor."""
    now = clock()
    jobs = wanted.narrow(unverified(actor, now), now).select_related("tenant")
    if cursor:
        jobs = jobs.filter(TupleGreaterThan((F("unsettled_since"), F("id")), _read(cursor)))
    found = list(jobs.order_by("unsettled_since", "id")[: PAGE + 1])
    after = ""
    if len(found) > PAGE:
        found = found[:PAGE]
        after = signing.dumps([found[-1].unsettled_since.isoformat(), found[-1].pk], salt=SALT)  # type: ignore[union-attr]
    return _rows(found, now), after, now


def these(actor: Actor, job_ids: list[str]) -> list[Row]:
    """The present rows of these jobs, whether or not they still belong into the queue; the invisible are
    left out."""
    now = clock()
    jobs = visible(Job.objects.filter(tenant_id=actor.tenant_id, job_id__in=job_ids), actor, now)
    return _rows(list(jobs.select_related("tenant")), now)


def _rows(jobs: list[Job], now: datetime) -> list[Row]:
    if not jobs:
        return []
    limits = dict(Queue.objects.filter(tenant_id=jobs[0].tenant_id).values_list("name", "limit_seconds"))
    entered = Proposal.objects.filter(job__in=jobs, state="open", expires_at__gt=now)
    waiting = dict(entered.values_list("job_id", "by__name"))
    sent = dict(
        Step.objects.filter(job__in=jobs, ordinal=F("job__position")).values_list("job_id", "dispatched_at")
    )
    return [
        Row(
            job,
            shape,
            sent.get(job.pk) or job.unsettled_since or job.updated_at,
            limits.get(job.queue, 3600),
            waiting.get(job.pk, ""),
        )
        for job, shape in zip(jobs, shapes(jobs, now), strict=True)
    ]


@dataclass(frozen=True)
class Figures:
    """The head of the page. A count of CAP + 1 means "more than CAP"."""

    jobs: int
    longest: datetime | None
    past_target: int
    waiting: int
    approvable: int
    settled_today: int
    had_happened: int


def figures(actor: Actor, today: datetime, now: datetime) -> Figures:
    """`today` is midnight in the reader's zone."""
    jobs = unverified(actor, now)
    oldest = jobs.order_by("unsettled_since", "id").values_list("unsettled_since", flat=True).first()
    entries = Proposal.objects.filter(tenant_id=actor.tenant_id, state="open", expires_at__gt=now)
    approvable = visible(entries, actor, now, action=Action.APPROVE, prefix="job__").exclude(
        by_id=actor.user_id
    )
    settled = _settled_since(actor, today, now)
    return Figures(
        jobs=_capped(jobs),
        longest=oldest,
        past_target=_capped(jobs.filter(_past_target(actor, now))),
        waiting=_capped(visible(entries, actor, now, prefix="job__")),
        approvable=_capped(approvable),
        settled_today=len(settled),
        had_happened=sum(outcome == "ok" for outcome in settled),
    )


def _capped(rows: QuerySet[Any]) -> int:
    return rows.order_by()[: CAP + 1].count()


def _past_target(actor: Actor, now: datetime) -> Q:
    late = Q(pk__in=[])
    for name, limit in Queue.objects.filter(tenant_id=actor.tenant_id).values_list("name", "limit_seconds"):
        late |= Q(queue=name, unsettled_since__lte=now - timedelta(seconds=limit))
    return late


def _settled_since(actor: Actor, since: datetime, now: datetime) -> list[str]:
    """The outcomes that people recorded since then."""
    settled = Receipt.objects.filter(
        tenant_id=actor.tenant_id, kind__in=("reconcile", "approve"), status="settled", at__gte=since
    )
    seen = visible(settled, actor, now, prefix="job__").values_list("body", "detail")[: CAP + 1]
    return [(json.loads(body) | json.loads(detail)).get("outcome", "") for body, detail in seen]


def last_recorded(actor: Actor, now: datetime) -> tuple[datetime, str] | None:
    """When an outcome was last recorded by a person, and by whom."""
    settled = Receipt.objects.filter(
        tenant_id=actor.tenant_id, kind__in=("reconcile", "approve"), status="settled"
    )
    return (
        visible(settled, actor, now, prefix="job__")
        .order_by("-at", "-id")
        .values_list("at", "actor_name")
        .first()
    )


def _read(cursor: str) -> tuple[datetime, int]:
    try:
        at, pk = signing.loads(cursor, salt=SALT)
    except signing.BadSignature:
        raise Invalid(
            FieldError("cursor", "was not given out by this list: begin again without it")
        ) from None
    return datetime.fromisoformat(at), pk
