"""Outcomes that wait, or waited, for a second person, as their reader may see them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from runs.errors import NotVisible
from runs.models import Claim, Proposal, Queue, Step, User, snapshot
from runs.permissions import Action, Actor, Rights, Target, rights_of_all, visible

from .cursor import page

PAGE = 50


@dataclass(frozen=True)
class Entry:
    """One proposal with its step, and what it is by now."""

    row: Proposal
    step: Step
    now: datetime

    @cached_property
    def state(self) -> str:
        """As the protocol would say now: nobody need have asked yet. Where the step was settled another way,
        `confirmed` or `superseded`, by whether that said the same."""
        if self.row.state != "open":
            return self.row.state
        if self.step.version != self.row.version:
            same = (self.step.state, self.step.value) == (self.row.outcome, self.row.value)
            return "confirmed" if same else "superseded"
        return "open" if self.now < self.row.expires_at else "expired"


def open_entries(now: datetime) -> QuerySet[Proposal]:
    """Those that wait: undecided, in their 24 hours, their step as it was then."""
    return Proposal.objects.filter(Exists(_as_it_was()), state="open", expires_at__gt=now)


def _as_it_was() -> QuerySet[Step]:
    return Step.objects.filter(job=OuterRef("job"), ordinal=OuterRef("ordinal"), version=OuterRef("version"))


def approvable(entries: QuerySet[Proposal], actor: Actor, now: datetime) -> QuerySet[Proposal]:
    """As the decision has it: seen, granted, not one's own, and not of a job that one has executed."""
    seen = visible(visible(entries, actor, now, prefix="job__"), actor, now, Action.APPROVE, "job__")
    mine = Claim.objects.filter(Q(user_id=actor.user_id) | Q(user__sponsor_id=actor.user_id))
    return seen.exclude(by_id=actor.user_id).exclude(job__in=mine.values("job"))


def _mine(actor: Actor, now: datetime) -> QuerySet[Proposal]:
    return Proposal.objects.filter(by_id=actor.user_id)


def _decided(actor: Actor, now: datetime) -> QuerySet[Proposal]:
    return Proposal.objects.exclude(Exists(_as_it_was()), state="open", expires_at__gt=now)


#: The tabs of the page, the first by default.
SHOWN: dict[str, Callable[[Actor, datetime], QuerySet[Proposal]]] = {
    "yours": lambda actor, now: approvable(open_entries(now), actor, now),
    "open": lambda actor, now: open_entries(now),
    "mine": _mine,
    "decided": _decided,
}


@snapshot()
def page_of(
    actor: Actor, show: str, cursor: str | None, now: datetime
) -> tuple[list[Entry], str | None, int]:
    """A page, the cursor after it, and how many there are in all (at most PAGE + 1). What waits comes in the
    order in which it expires, the rest newest first. Raises Invalid for a foreign cursor."""
    rows = SHOWN[show](actor, now).filter(tenant_id=actor.tenant_id)
    rows = visible(rows, actor, now, prefix="job__").annotate(created_at=F("at"))
    waits = show in ("yours", "open")
    found, after = page(rows.select_related("job", "by", "decided_by"), cursor, PAGE, oldest=waits)
    return _with_steps(found, now), after, len(rows.order_by().values("pk")[: PAGE + 1])


@snapshot()
def one(actor: Actor, proposal: str, now: datetime) -> Entry:
    """Raises NotVisible alike where there is none and where its job may not be seen."""
    named = Proposal.objects.filter(tenant_id=actor.tenant_id, proposal_id=proposal)
    found = visible(named, actor, now, prefix="job__").select_related("job", "by", "decided_by").first()
    if found is None:
        raise NotVisible
    return _with_steps([found], now)[0]


def _with_steps(rows: list[Any], now: datetime) -> list[Entry]:
    asked = Q(pk__in=[])
    for row in rows:
        asked |= Q(job_id=row.job_id, ordinal=row.ordinal)
    steps = {(step.job_id, step.ordinal): step for step in Step.objects.filter(asked)}
    return [Entry(row, steps[row.job_id, row.ordinal], now) for row in rows]


def without_approver(actor: Actor, entries: list[Entry], now: datetime) -> set[str]:
    """Of these, the ones that nobody could approve: by their ids."""
    waiting = [entry.row for entry in entries if entry.state == "open"]
    people = _approvers(actor.tenant_id)
    held = rights_of_all(people, actor.tenant_id)
    ran: dict[int, set[int]] = {}
    claims = Claim.objects.filter(job__in={row.job_id for row in waiting}, user__isnull=False)
    for job, *who in claims.values_list("job_id", "user_id", "user__sponsor_id").distinct():
        ran.setdefault(job, set()).update(pk for pk in who if pk)
    return {
        row.proposal_id
        for row in waiting
        if not any(
            held[person.pk].judge(Action.VIEW, Target.of(row.job), now=now).allowed
            and held[person.pk]
            .judge(
                Action.APPROVE,
                Target.of(row.job),
                now=now,
                executor=person.pk in ran.get(row.job_id, ()),
                own_proposal=person.pk == row.by_id,
            )
            .allowed
            for person in people
        )
    }


def queues_without_approver(tenant_id: int, now: datetime, reader: Rights | None = None) -> list[str]:
    """Queues that ask for two people, and have nobody who may see and approve whatever its job's owner is;
    of those that the reader sees, where one is given."""
    held = rights_of_all(_approvers(tenant_id), tenant_id).values()
    asking = Queue.objects.filter(tenant_id=tenant_id).exclude(reconcile_needs="1").order_by("name")
    return [
        name
        for name in asking.values_list("name", flat=True)
        if (reader is None or _may(reader, Action.VIEW, name, now))
        and not any(
            _may(each, Action.VIEW, name, now) and _may(each, Action.APPROVE, name, now) for each in held
        )
    ]


def _may(rights: Rights, action: Action, queue: str, now: datetime) -> bool:
    """In the whole of the queue."""
    return rights.judge(action, Target(queue, "", ""), now=now).allowed


def _approvers(tenant_id: int) -> list[User]:
    granted = Q(grants__action=Action.APPROVE) | Q(groups__grants__action=Action.APPROVE)
    people = User.objects.filter(granted, tenant_id=tenant_id, is_active=True, kind=User.Kind.PERSON)
    return list(people.distinct()[:200])
