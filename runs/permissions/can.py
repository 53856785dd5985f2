"""`user.has_perm("can.ACTION", job)`: the one decision, for pages. A command asks again."""

from django.db.models import Q

from runs import ledger
from runs.models import Claim, Job, Proposal, User

from .actor import Actor
from .rights import rights_of
from .terms import TENANT_WIDE, Action, Target


def can(user: User, action: str, job: object | None) -> bool:
    """May they do it to this job, or, without one, anywhere in their tenant?

    Acting on a job needs `view` of it. No to an unknown action, and to what is no job of their tenant.
    """
    if action not in set(Action):
        return False
    asked, actor, now = Action(action), Actor.of_user(user), ledger.clock()
    rights = rights_of(actor, now)
    if job is None:
        return rights.anywhere(asked, now)
    if not isinstance(job, Job) or job.tenant_id != actor.tenant_id:
        return False
    target = Target.of(job)
    sees = asked in TENANT_WIDE or rights.judge(Action.VIEW, target, now=now).allowed
    executor, own = has_executed(actor, job, asked), has_proposed(actor, job, asked)
    return sees and rights.judge(asked, target, now=now, executor=executor, own_proposal=own).allowed


def has_executed(actor: Actor, job: Job, action: Action) -> bool:
    """Has the actor, or an account that it sponsors, held a claim on the job? Looked up where it matters."""
    if action not in (Action.RECONCILE, Action.APPROVE) or actor.user_id is None:
        return False
    mine = Q(user_id=actor.user_id) | Q(user__sponsor_id=actor.user_id)
    return Claim.objects.filter(mine, job_id=job.pk).exists()


def has_proposed(actor: Actor, job: Job, action: Action) -> bool:
    """Does the job wait for another person's word on a proposal of the actor?"""
    if action is not Action.APPROVE or actor.user_id is None:
        return False
    return Proposal.objects.filter(job_id=job.pk, state="open", by_id=actor.user_id).exists()
