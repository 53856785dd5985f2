"""Tombstones that their reader may see, newest first, and how often each refused its job."""

from typing import Any

from runs import causes
from runs.ledger import clock
from runs.models import Tenant, Tombstone
from runs.permissions import Actor, visible

from .cursor import page

PAGE = 50


def page_of(actor: Actor, cursor: str | None) -> tuple[list[dict[str, Any]], str | None]:
    """A page of rows and the cursor after it. Raises Invalid for a foreign cursor."""
    buried = Tombstone.objects.filter(tenant_id=actor.tenant_id, admitted=False)
    found, after = page(visible(buried, actor, clock()), cursor, PAGE)
    sealed = Tenant.objects.values_list("sealed_generation", flat=True).get(id=actor.tenant_id)
    words = causes.describe_all(actor.tenant_id, {stone.cancel_cause for stone in found})
    rows = [
        {
            "job": stone.job_id,
            "title": stone.title,
            "queue": stone.queue,
            "by": stone.cancel_by,
            "at": stone.cancel_at,
            "cause": words[stone.cancel_cause]["short"],
            "refused": stone.blocked_submits,
            "last_refused_at": stone.blocked_at,
            "generation": stone.generation,
            "sealed": stone.generation <= sealed,
        }
        for stone in found
    ]
    return rows, after
