"""Receipts, exactly as they were digested: those of a job in order, and one by its event id."""

from typing import Any

from runs.errors import NotVisible
from runs.ledger import clock, shown
from runs.models import Job, Receipt, snapshot
from runs.permissions import Action, Actor, Target, rights_of, visible

from .jobs import find


@snapshot()
def of_job(actor: Actor, job_id: str, after: int, limit: int) -> dict[str, Any]:
    """`{"receipts": […], "next_after"}`: those with a number above `after`. Raises as `jobs.find`."""
    rows = Receipt.objects.filter(job=find(actor, job_id, clock()), seq__gt=after).order_by("seq")
    found = list(rows[: limit + 1])
    more = found[limit - 1].seq if len(found) > limit else None
    return {"receipts": [shown(receipt) for receipt in found[:limit]], "next_after": more}


def one(actor: Actor, event_id: str) -> dict[str, Any]:
    """The receipt of this event id in the tenant. Raises NotVisible."""
    receipt = Receipt.objects.filter(tenant_id=actor.tenant_id, event_id=event_id).first()
    if receipt is None or not _may_see(actor, receipt):
        raise NotVisible
    return shown(receipt)


def _may_see(actor: Actor, receipt: Receipt) -> bool:
    """Who may see its job. Without one: who caused it (it was their answer), or sees the whole tenant."""
    now = clock()
    if receipt.job_id is not None:
        return visible(Job.objects.filter(pk=receipt.job_id), actor, now).exists()
    own = (receipt.actor_type, receipt.actor_name) == (str(actor.type), actor.name)
    return (
        own
        or rights_of(actor, now).judge(Action.VIEW, Target("", "", receipt.job_ref or ""), now=now).allowed
    )
