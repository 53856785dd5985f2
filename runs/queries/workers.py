"""Who works now: the claims that are held on open jobs, as their reader may see those, and each account's
last drill. A claim whose lease has ended is still held until it is taken over or revoked.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, Q, QuerySet, Subquery

from runs.models import Drill, Job, User, snapshot
from runs.permissions import WHOLE, Action, Actor, Rights, visible

from .cursor import page

PAGE = 50
MOST_ACCOUNTS = 200


@dataclass(frozen=True)
class Wanted:
    """Empty does not narrow. `lease`: "live" or "ended"."""

    worker: str = ""
    queue: str = ""
    lease: str = ""

    def narrow(self, jobs: QuerySet[Job], now: datetime) -> QuerySet[Job]:
        if "\0" in self.worker + self.queue or self.lease not in ("", "live", "ended"):
            return jobs.none()
        given = {"holder": self.worker, "queue": self.queue}
        jobs = jobs.filter(**{column: value for column, value in given.items() if value})
        leases = {"live": Q(lease_expires_at__gt=now), "ended": Q(lease_expires_at__lte=now)}
        return jobs.filter(leases.get(self.lease, Q()))


@dataclass(frozen=True)
class Due:
    """What a claim's holder is to hear: `kind` "abort", "stop", "pause" or "" for none; how far it came."""

    kind: str
    since: datetime | None = None
    offered_at: datetime | None = None
    by: str = ""
    heard_at: datetime | None = None


@snapshot()
def claims(actor: Actor, wanted: Wanted, cursor: str | None, now: datetime) -> tuple[list[Job], str | None]:
    """A page of jobs that somebody holds, newest job first, and the cursor after it. Raises Invalid."""
    held = Job.objects.filter(tenant_id=actor.tenant_id, result="open").exclude(holder="")
    return page(visible(wanted.narrow(held.exclude(control="acknowledged"), now), actor, now), cursor, PAGE)


def due(job: Job) -> Due:
    """The highest signal that stands (docs/protocol.md, section 7)."""
    if job.control == "requested":
        kind, seq, since = (
            ("abort", job.escalated_seq, job.grace_until)
            if job.escalated_seq
            else ("stop", job.cancel_seq, job.cancel_at)
        )
    elif job.paused_at:
        kind, seq, since = "pause", job.paused_seq, job.paused_at
    else:
        return Due("")
    offered = job.offered_seq == seq
    return Due(
        kind,
        since,
        job.offered_at if offered else None,
        job.offered_by if offered else "",
        job.heard_at if job.heard_seq == seq else None,
    )


def last_drills(actor: Actor, rights: Rights, now: datetime) -> list[tuple[User, Drill | None]]:
    """Each service account that is on, by name, with its newest canary; for who may see the whole tenant."""
    if not rights.judge(Action.VIEW, WHOLE, now=now).allowed:
        return []
    newest = Drill.objects.filter(user=OuterRef("pk")).order_by("-asked_at").values("pk")[:1]
    accounts = User.objects.filter(tenant_id=actor.tenant_id, kind="service", is_active=True)
    users = list(accounts.annotate(newest=Subquery(newest)).order_by("name")[:MOST_ACCOUNTS])
    drills = Drill.objects.in_bulk([user.newest for user in users if user.newest])
    return [(user, drills.get(user.newest)) for user in users]
