"""May they, why not, and who may (docs/permissions.md, "Why / who / what if"): the decision, step by step.

It shows what the decision is made of, never the job itself: so it answers holders of `manage_grants` also on
jobs that they may not see.
"""

from datetime import datetime
from typing import Any

from django.db.models import Q

from runs.errors import NotVisible
from runs.ledger import clock
from runs.models import Job, User
from runs.permissions import (
    TENANT_WIDE,
    WHOLE,
    Action,
    Actor,
    Target,
    Verdict,
    error_of,
    has_executed,
    has_proposed,
    rights_of,
)

from .jobs import find

MOST = 200  #: principals looked at for `who_may`


def explain(actor: Actor, action: Action, job_id: str | None, principal: str | None) -> dict[str, Any]:
    """`{"allowed", "code", "steps": [{"n", "check", "result"}], "who_may": [names] or None}`.

    On the whole tenant without `job_id`; for the actor without `principal`. Names are for those who hold
    `manage_grants` or `export`. Raises NotVisible for a job or principal that there is not, or not for the
    actor, and NotAllowed where somebody else is asked about without `manage_grants`.
    """
    now = clock()
    rights = rights_of(actor, now)
    manages = rights.judge(Action.MANAGE_GRANTS, WHOLE, now=now)
    if principal not in (None, actor.name) and not manages.allowed:
        refusal = error_of(manages)
        refusal.action = Action.MANAGE_GRANTS
        raise refusal
    job = _job(actor, job_id, manages.allowed, now) if job_id else None
    whom = actor if principal in (None, actor.name) else _principal(actor, str(principal))
    verdict, steps = _judged(whom, action, job, now)
    exports = rights.judge(Action.EXPORT, Target.of(job) if job else WHOLE, now=now).allowed
    return {
        "allowed": verdict.allowed,
        "code": verdict.code,
        "steps": [{"n": n, "check": check, "result": result} for n, check, result in steps],
        "who_may": _who_may(actor, action, job, now) if manages.allowed or exports else None,
    }


def _judged(
    whom: Actor, action: Action, job: Job | None, now: datetime
) -> tuple[Verdict, list[tuple[int, str, str]]]:
    """Acting on a job also needs `view` of it: that comes first, as step 0."""
    rights, target = rights_of(whom, now), Target.of(job) if job else WHOLE
    first: list[tuple[int, str, str]] = []
    if job and action is not Action.VIEW and action not in TENANT_WIDE:
        view = rights.judge(Action.VIEW, target, now=now)
        first = [(0, "view", "pass" if view.allowed else view.code)]
        if not view.allowed:
            return view, first
    facts = (
        {"executor": has_executed(whom, job, action), "own_proposal": has_proposed(whom, job, action)}
        if job
        else {}
    )
    verdict = rights.judge(action, target, now=now, **facts)
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


def _who_may(actor: Actor, action: Action, job: Job | None, now: datetime) -> list[str]:
    """Names of those whom the decision would let, among the first MOST who have a grant of the action."""
    granted = Q(grants__action=action) | Q(groups__grants__action=action)
    users = User.objects.filter(granted, tenant_id=actor.tenant_id, is_active=True)
    asked = users.select_related("tenant").distinct().order_by("name")[:MOST]
    return [user.name for user in asked if _judged(Actor.of_user(user), action, job, now)[0].allowed]
