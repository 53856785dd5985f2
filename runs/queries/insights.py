"""What Insights shows, in a fixed number of statements however many jobs there are.

What was counted (`runs.tallies`) is of whole queues, so it is only for who may see those whole. The ages of
what waits now are counted as the Verify queue lists it, job by job, by what their reader may see.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet, Subquery, Sum
from django.db.models.functions import TruncDay

from runs.models import Folded, Spell, Tally, Tenant, snapshot
from runs.permissions import Action, Actor, Rights, Target
from runs.tallies import TALLIED

from .figures import Count
from .verify_queue import WAITS, Wanted, unverified

Sums = dict[str, int]


@dataclass(frozen=True)
class Open:
    """Steps that became unknown in the quarter of an hour from `at` on, and still are."""

    at: datetime
    tool: str
    count: int


@dataclass(frozen=True)
class Counts:
    """`quarters`, oldest first, and `tools`: sums by their names in `Tally`. `confirm` and `stood`: (when,
    size, how many); `settle`: (tool, size, how many). `open`: whenever they began. `until`: up to when
    receipts are counted; `since`: from when on there is anything; None: nothing yet."""

    quarters: list[tuple[datetime, Sums]]
    tools: dict[str, Sums]
    confirm: list[tuple[datetime, int, int]]
    stood: list[tuple[datetime, int, int]]
    settle: list[tuple[str, int, int]]
    open: list[Open]
    since: datetime | None
    until: datetime | None


@dataclass(frozen=True)
class Waiting:
    """Jobs of the Verify queue by how long they have waited: one count (capped) for each of WAITS."""

    counts: list[int]
    longest: datetime | None


def whole(rights: Rights, queues: Sequence[str], now: datetime, action: Action = Action.VIEW) -> list[str]:
    """Those of the queues in which no job is kept from the reader. A live deny of single jobs or owners may
    hide some in any."""
    narrow = any(
        held.action == action and not held.allows and held.scope not in ("tenant", "queue") and held.live(now)
        for held in rights.grants
    )
    return (
        []
        if narrow
        else [name for name in queues if rights.judge(action, Target(name, "", ""), now=now).allowed]
    )


def waiting(actor: Actor, queue: str, now: datetime) -> Waiting:
    jobs = unverified(actor, now)
    jobs = jobs.filter(queue=queue) if queue else jobs
    ages = [Count(Wanted(waits=name).narrow(jobs, now)) for name in WAITS]
    oldest = Subquery(jobs.order_by("unsettled_since", "id").values("unsettled_since")[:1])
    *counts, longest = Tenant.objects.filter(pk=actor.tenant_id).values_list(*ages, oldest).get()
    return Waiting(counts, longest)


@snapshot()
def counts(actor: Actor, queues: Sequence[str], since: datetime, by_day: bool = False) -> Counts:
    """Of these queues, which the caller has found to be whole, from `since` on. `by_day`: confirmations by
    the days of the zone in force, which are far fewer than quarters of an hour."""
    all_of_them = Tally.objects.filter(tenant_id=actor.tenant_id, queue__in=queues)
    tallies = all_of_them.filter(at__gte=since)
    sums = [Sum(name) for name in TALLIED]
    still = all_of_them.filter(opened__gt=F("closed")).values_list("at", "tool")
    spells = Spell.objects.filter(tenant_id=actor.tenant_id, queue__in=queues, at__gte=since)
    confirm = spells.filter(kind="confirm").annotate(began=TruncDay("at") if by_day else F("at"))
    first, until = _extent(all_of_them)
    return Counts(
        quarters=[(at, _named(row)) for at, *row in tallies.values_list("at").annotate(*sums).order_by("at")],
        tools={
            tool: _named(row) for tool, *row in tallies.values_list("tool").annotate(*sums).order_by("tool")
        },
        confirm=list(_summed(confirm, "began", "size")),
        stood=list(_summed(spells.filter(kind="stood"), "at", "size")),
        settle=list(_summed(spells.filter(kind="settle"), "tool", "size")),
        open=[Open(*row) for row in still.annotate(n=Sum(F("opened") - F("closed"))).order_by("at", "tool")],
        since=first,
        until=until,
    )


def _summed(spells: QuerySet[Spell], *by: str) -> Any:
    return spells.values_list(*by).annotate(n=Sum("count")).order_by(*by)


def _named(row: list[int]) -> Sums:
    return dict(zip(TALLIED, row, strict=True))


def _extent(tallies: QuerySet[Tally]) -> tuple[datetime | None, datetime | None]:
    first = tallies.order_by("at").values("at")[:1]
    found = Folded.objects.values_list(Subquery(first), "at").first()
    return found or (None, None)
