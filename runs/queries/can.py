"""May they, why not, who may, and what if (docs/permissions.md, "Why / who / what if"): the decision, step by
step.

It shows what the decision is made of, never the job itself: so it answers holders of `manage_grants` also on
jobs that they may not see.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext

from runs.errors import NotVisible
from runs.ledger import clock
from runs.models import Claim, Grant, Job, Proposal, User, snapshot
from runs.permissions import (
    SENTENCES,
    TENANT_WIDE,
    WAYS,
    WHOLE,
    Action,
    Actor,
    Line,
    Rights,
    Target,
    Verdict,
    error_of,
    has_executed,
    has_proposed,
    rights_of,
    rights_of_all,
)
from runs.permissions.groups import called

from .jobs import find

MOST = 200  #: principals looked at for `who_may`


@dataclass(frozen=True)
class Facts:
    """What separation of duties looks at, on one job: who ran it, who waits for a second person's word."""

    executors: frozenset[int] = frozenset()
    proposers: frozenset[int] = frozenset()

    @classmethod
    def of(cls, job: Job | None, actions: Collection[Action]) -> "Facts":
        if job is None or not {Action.RECONCILE, Action.APPROVE}.intersection(actions):
            return cls()
        ran = Claim.objects.filter(job=job, user__isnull=False).values_list("user_id", "user__sponsor_id")
        entered = Proposal.objects.filter(job=job, state="open").values_list("by_id", flat=True)
        return cls(frozenset(pk for pair in ran for pk in pair if pk), frozenset(entered))


@snapshot()
def explain(
    actor: Actor, action: Action, job_id: str | None, principal: str | None, what_if: Line | None = None
) -> dict[str, Any]:
    """`{"allowed", "code", "reason", "change", "steps": [{"n", "check", "result"}], "who_may": [names] or
    None, "others": how many others may, "grant": the one that decided, or None}`; `reason` and `change` (what
    would change it) are sentences, "" where allowed.

    On the whole tenant without `job_id`; for the actor without `principal`. `what_if`: as though they held
    this grant too. Names are for those who hold `manage_grants` or `export`. Raises NotVisible for a job or
    principal that there is not, or not for the actor, and NotAllowed where somebody else, or a what-if, is
    asked about without `manage_grants`.
    """
    now = clock()
    rights = rights_of(actor, now)
    manages = rights.judge(Action.MANAGE_GRANTS, WHOLE, now=now)
    if (what_if or principal not in (None, actor.name)) and not manages.allowed:
        refusal = error_of(manages)
        refusal.action = Action.MANAGE_GRANTS
        raise refusal
    job = _job(actor, job_id, manages.allowed, now) if job_id else None
    whom = actor if principal in (None, actor.name) else _principal(actor, str(principal))
    held = rights_of(whom, now)
    if what_if:
        held = replace(held, grants=(*held.grants, what_if.as_held(now)))
    executor, own = (job is not None and ask(whom, job, action) for ask in (has_executed, has_proposed))
    verdict, steps = _judged(held, action, job, now, executor, own)
    names, may_know = who_may(actor, [action], job, now)[action], may_name(rights, job, now)
    return {
        "allowed": verdict.allowed,
        "code": verdict.code,
        "reason": "" if verdict.allowed else gettext(SENTENCES[verdict.code]),
        "change": "" if verdict.allowed else gettext(WAYS[verdict.code]),
        "steps": [{"n": n, "check": check, "result": result} for n, check, result in steps],
        "who_may": names if may_know else None,
        "others": len(set(names) - {whom.name}),
        "grant": _grant(verdict.grant) if may_know else None,
    }


def _grant(pk: int | None) -> dict[str, Any] | None:
    """The grant that decided, and who holds it; None where none did, or it is only supposed."""
    row = Grant.objects.select_related("user", "group").filter(pk=pk or 0).first()
    if row is None:
        return None
    return {"id": row.pk, "says": str(row), "holder": called(row.group) if row.group else str(row.user)}


def may_name(rights: Rights, job: Job | None, now: datetime) -> bool:
    """May they read names of grants and of other people in an explanation?"""
    target = Target.of(job) if job else WHOLE
    asked = ((Action.MANAGE_GRANTS, WHOLE), (Action.EXPORT, target))
    return any(rights.judge(action, where, now=now).allowed for action, where in asked)


def who_may(
    actor: Actor, actions: Collection[Action], job: Job | None, now: datetime
) -> dict[Action, list[str]]:
    """By action the names of those whom the decision would let, among the first MOST who hold a grant."""
    asked = _holders(actor, actions)
    held, facts = rights_of_all(asked, actor.tenant_id), Facts.of(job, actions)

    def lets(user: User, action: Action) -> bool:
        executor, own = user.pk in facts.executors, user.pk in facts.proposers
        return _judged(held[user.pk], action, job, now, executor, own)[0].allowed

    return {action: [user.name for user in asked if lets(user, action)] for action in actions}


def who_may_anywhere(actor: Actor, action: Action, now: datetime) -> list[str]:
    """Names of those who may do it in some place of the tenant."""
    asked = _holders(actor, [action])
    held = rights_of_all(asked, actor.tenant_id)
    return [user.name for user in asked if held[user.pk].anywhere(action, now)]


def _holders(actor: Actor, actions: Collection[Action]) -> list[User]:
    granted = Q(grants__action__in=actions) | Q(groups__grants__action__in=actions)
    users = User.objects.filter(granted, tenant_id=actor.tenant_id, is_active=True)
    return list(users.distinct().order_by("name")[:MOST])


def _judged(
    rights: Rights, action: Action, job: Job | None, now: datetime, executor: bool, own: bool
) -> tuple[Verdict, list[tuple[int, str, str]]]:
    """Acting on a job also needs `view` of it: that comes first, as step 0."""
    target = Target.of(job) if job else WHOLE
    first: list[tuple[int, str, str]] = []
    if job and action is not Action.VIEW and action not in TENANT_WIDE:
        view = rights.judge(Action.VIEW, target, now=now)
        first = [(0, "view", "pass" if view.allowed else view.code)]
        if not view.allowed:
            return view, first
    verdict = rights.judge(action, target, now=now, executor=executor, own_proposal=own)
    return verdict, [*first, *verdict.steps]


def _job(actor: Actor, job_id: str, manages: bool, now: datetime) -> Job:
    if not manages:
        return find(actor, job_id, now)
    job = Job.objects.filter(tenant_id=actor.tenant_id, job_id=job_id).first()
    if job is None:
        raise NotVisible
    return job


def _principal(actor: Actor, name: str) -> Actor:
    user = User.objects.filter(tenant_id=actor.tenant_id, name=name).select_related("tenant").first()
    if user is None:
        raise NotVisible
    return Actor.of_user(user)
