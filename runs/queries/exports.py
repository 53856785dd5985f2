"""Whole lists for a file: the rows that their reader may see, at most 10,000, by their own columns alone."""

from datetime import datetime

from runs.models import Job, snapshot
from runs.permissions import Actor, visible

from .jobs import JobFilter
from .verify_queue import Wanted, unverified

MOST = 10_000


@snapshot()
def jobs(actor: Actor, wanted: JobFilter, now: datetime) -> tuple[list[Job], bool]:
    """Newest first, and whether those were all."""
    fit = Job.objects.filter(wanted.condition, tenant_id=actor.tenant_id)
    return _cut(list(visible(fit, actor, now).order_by("-created_at", "-id")[: MOST + 1]))


@snapshot()
def waiting(actor: Actor, wanted: Wanted, now: datetime) -> tuple[list[Job], bool]:
    """The Verify queue, longest waiting first, and whether those were all."""
    queue = wanted.narrow(unverified(actor, now), now).order_by("unsettled_since", "id")
    return _cut(list(queue[: MOST + 1]))


def _cut(found: list[Job]) -> tuple[list[Job], bool]:
    return found[:MOST], len(found) <= MOST
