"""All that a job's page is made of, read at once: the job, its receipts, what waits, and what may be done.

Filtered by what its reader may see. Gives values, no words.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from runs.commands.rows import load
from runs.ledger import clock, shown
from runs.models import Delivery, Job, Proposal, Queue, Receipt, Tool
from runs.permissions import Actor, Rights, rights_of
from runs.protocol import states

from .jobs import find
from .shape import shapes

MOST_EVENTS = 200  #: receipts on one page; earlier ones are a link away


@dataclass(frozen=True)
class JobPage:
    """`shape` is the job as the API shows it; `job` as the protocol sees it, every step loaded."""

    now: datetime
    row: Job
    shape: dict[str, Any]
    job: states.Job
    rights: Rights
    receipts: list[dict[str, Any]]
    earlier: bool
    replays: dict[str, tuple[int, datetime]]
    proposal: Proposal | None
    queue: Queue
    tools: dict[str, Tool]
    sent_at: dict[int, datetime]
    steps_approved: set[int]

    @property
    def waits(self) -> states.Proposal | None:
        """The open entry as the protocol sees it."""
        found = self.proposal
        if found is None:
            return None
        entry = states.Proposal(
            found.proposal_id,
            found.ordinal,
            found.outcome,
            found.value,
            found.version,
            found.state,
            found.expires_at,
            by=found.by.name,
        )
        return entry if entry.is_open(self.job, self.now) else None


def job_page(actor: Actor, job_id: str, after: int = 0) -> JobPage:
    """The job and its receipts with a number above `after` (the newest of them). Raises as `jobs.find`."""
    row, now = find(actor, job_id), clock()
    shape = shapes([row], now)[0]
    job, steps = load(row, *range(row.n_steps))
    newest = list(Receipt.objects.filter(job=row, seq__gt=after).order_by("-seq")[: MOST_EVENTS + 1])
    receipts = [shown(receipt) for receipt in reversed(newest[:MOST_EVENTS])]
    events = [receipt["event_id"] for receipt in receipts if receipt["event_id"]]
    again = Delivery.objects.filter(tenant_id=row.tenant_id, event_id__in=events, replays__gt=0)
    waiting = Proposal.objects.filter(job=row, state="open").select_related("by").order_by("-id").first()
    named = {step["tool"] for step in shape["steps"]}
    return JobPage(
        now=now,
        row=row,
        shape=shape,
        job=job,
        rights=rights_of(actor, now),
        receipts=receipts,
        earlier=len(newest) > MOST_EVENTS,
        replays={delivery.event_id: (delivery.replays, delivery.last_at) for delivery in again},
        proposal=waiting,
        queue=Queue.objects.get(tenant_id=row.tenant_id, name=row.queue),
        tools={tool.name: tool for tool in Tool.objects.filter(tenant_id=row.tenant_id, name__in=named)},
        sent_at={
            ordinal: sent
            for ordinal, step in steps.items()
            if (sent := step.dispatched_at or step.reserved_at)
        },
        steps_approved={
            entry.ordinal for entry in Proposal.objects.filter(job=row, state="approved").only("ordinal")
        },
    )
