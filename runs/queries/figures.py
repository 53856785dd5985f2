"""The figures over the Verify queue, by what their reader may see, in one statement. Counts are capped, and
a count of CAP + 1 means "more than CAP": nothing here counts to the end of a large table.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import IntegerField, Q, QuerySet, Subquery

from runs.models import Receipt, Tenant
from runs.permissions import Actor, visible

from .approvals import approvable, open_entries
from .verify_queue import Wanted, unverified

CAP = 5000

#: Canonical JSON has no spaces, and a quote inside a text is escaped: only the key itself reads like this.
HAPPENED = Q(body__contains='"outcome":"ok"') | Q(detail__contains='"outcome":"ok"')


class Count(Subquery):
    """How many rows, at most CAP + 1, as a part of another statement."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS counted)"
    output_field = IntegerField()
    empty_result_set_value = 0  # where Django knows beforehand that there are none

    def __init__(self, rows: QuerySet[Any]) -> None:
        super().__init__(rows.order_by().values("pk")[: CAP + 1])


@dataclass(frozen=True)
class Figures:
    """The head of the page; `matching` is how many jobs the filters let through."""

    jobs: int
    matching: int
    longest: datetime | None
    past_target: int
    waiting: int
    approvable: int
    settled_today: int
    had_happened: int


def figures(actor: Actor, wanted: Wanted, limits: dict[str, int], today: datetime, now: datetime) -> Figures:
    """`today` is midnight in the reader's zone; `limits` as `choices.limits_of` gives them."""
    jobs = unverified(actor, now)
    entries = open_entries(now).filter(tenant_id=actor.tenant_id)
    settled = _recorded(actor, now).filter(at__gte=today)
    counted = Tenant.objects.filter(pk=actor.tenant_id).values_list(
        Count(jobs),
        Count(wanted.narrow(jobs, now)),
        Subquery(jobs.order_by("unsettled_since", "id").values("unsettled_since")[:1]),
        Count(jobs.filter(_past_target(limits, now))),
        Count(visible(entries, actor, now, prefix="job__")),
        Count(approvable(entries, actor, now)),
        Count(settled),
        Count(settled.filter(HAPPENED)),
    )
    return Figures(*counted.get())


def last_recorded(actor: Actor, now: datetime) -> tuple[datetime, str] | None:
    """When an outcome was last recorded by a person or verifier, and by whom."""
    return _recorded(actor, now).order_by("-at", "-id").values_list("at", "actor_name").first()


def _recorded(actor: Actor, now: datetime) -> QuerySet[Receipt]:
    settled = Receipt.objects.filter(
        tenant_id=actor.tenant_id, kind__in=("reconcile", "approve"), status="settled"
    )
    return visible(settled, actor, now, prefix="job__")


def _past_target(limits: dict[str, int], now: datetime) -> Q:
    late = Q(pk__in=[])
    for name, limit in limits.items():
        late |= Q(queue=name, unsettled_since__lte=now - timedelta(seconds=limit))
    return late
