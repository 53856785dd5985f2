"""All that a job's page is made of, as it was at one moment: the job, its receipts, what waits. Filtered by
what its reader may see. Gives values, no words.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from runs.commands.rows import load
from runs.ledger import shown
from runs.models import Check, Delivery, Job, Proposal, Queue, Receipt, Step, Tool, snapshot
from runs.permissions import Actor
from runs.protocol import states

from .family import Family, family
from .jobs import find
from .shape import shapes

MOST_EVENTS = 100  #: receipts on one page; earlier ones are a link away
MOST_ENTRIES = 256  #: of two people, looked at on one page


@dataclass(frozen=True)
class JobPage:
    """`shape` is the job as the API shows it; `job` as the protocol sees it, every step loaded.

    `waits`: the open entry of `entries`. `replays`: by event id, how often it came again and when last.
    `sent_at`: by ordinal, its mark, or in an unmarked job when it was
    handed out. `checks`: by ordinal, what its verifier was last told.
    """

    now: datetime
    row: Job
    shape: dict[str, Any]
    job: states.Job
    receipts: list[dict[str, Any]]
    earlier: bool
    replays: dict[str, tuple[int, datetime]]
    waits: states.Proposal | None
    entries: tuple[states.Proposal, ...]  #: newest first
    queue: Queue
    tools: dict[str, Tool]
    sent_at: dict[int, datetime]
    checks: dict[int, Check]
    family: Family

    @property
    def approved(self) -> frozenset[int]:
        """Ordinals whose outcome a second person approved."""
        return frozenset(entry.ordinal for entry in self.entries if entry.state == "approved")

    def entry(self, proposal: str) -> states.Proposal | None:
        return next((entry for entry in self.entries if entry.id == proposal), None)


@snapshot()
def job_page(actor: Actor, job_id: str, now: datetime, *, after: int = 0, before: int = 0) -> JobPage:
    """The job and its newest receipts: those above `after` (the oldest of them, so that none is missed), or
    those below `before`. Raises as `jobs.find`."""
    row = find(actor, job_id, now)
    shape = shapes([row], now)[0]
    job, steps = load(row, *range(row.n_steps))
    receipts, more = _receipts(row, after, before)
    entries = _entries(row, actor)
    named = {step["tool"] for step in shape["steps"]}
    tools = {tool.name: tool for tool in Tool.objects.filter(tenant_id=row.tenant_id, name__in=named)}
    return JobPage(
        now=now,
        row=row,
        shape=shape,
        job=job,
        receipts=[shown(receipt) for receipt in receipts],
        earlier=more and not after,
        replays={r.event_id: (r.replays, r.replayed_at) for r in receipts if r.replays},  # type: ignore[misc, attr-defined]
        waits=next((entry for entry in entries if entry.is_open(job, now)), None),
        entries=entries,
        queue=Queue.objects.get(tenant_id=row.tenant_id, name=row.queue),
        tools=tools,
        sent_at={n: at for n, step in steps.items() if (at := _sent_at(job, step))},
        checks=_checks(row) if any(tool.verifier for tool in tools.values()) else {},
        family=family(row, actor, now),
    )


def _checks(row: Job) -> dict[int, Check]:
    return {check.ordinal: check for check in Check.objects.filter(job=row).select_related("asked_by")}


def _sent_at(job: states.Job, step: Step) -> datetime | None:
    """Handing a step out is not sending it where sending is marked."""
    return step.dispatched_at if job.marked else step.reserved_at


def was_sent(actor: Actor, event_id: str) -> bool:
    """Whether the tenant's ledger knows the event id: the form with it was sent before."""
    return Receipt.objects.filter(tenant_id=actor.tenant_id, event_id=event_id).exists()


def _receipts(row: Job, after: int, before: int) -> tuple[list[Receipt], bool]:
    """At most MOST_EVENTS in order, and whether there are more on that side."""
    receipts = Receipt.objects.filter(job=row, seq__gt=after)
    if before:
        receipts = receipts.filter(seq__lt=before)
    found = list(_with_replays(receipts).order_by("seq" if after else "-seq")[: MOST_EVENTS + 1])
    return sorted(found[:MOST_EVENTS], key=lambda receipt: receipt.seq or 0), len(found) > MOST_EVENTS


def _with_replays(receipts: QuerySet[Receipt]) -> QuerySet[Receipt]:
    again = Delivery.objects.filter(tenant=OuterRef("tenant"), event_id=OuterRef("event_id"))
    return receipts.annotate(
        replays=Subquery(again.values("replays")[:1]), replayed_at=Subquery(again.values("last_at")[:1])
    )


def _entries(row: Job, actor: Actor) -> tuple[states.Proposal, ...]:
    """Its entries as the protocol sees them, newest first."""
    found = Proposal.objects.filter(job=row).select_related("by").order_by("-id")[:MOST_ENTRIES]
    return tuple(
        states.Proposal(
            each.proposal_id,
            each.ordinal,
            each.outcome,
            each.value,
            each.version,
            each.state,
            each.expires_at,
            own=each.by_id == actor.user_id,
            by=each.by.name,
        )
        for each in found
    )
