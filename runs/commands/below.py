"""All below a job, for a cancel that is passed on to them (PROTOCOL section 9): which, under which locks, and
what each of them is asked. Decides nothing: each is judged and answered as if it had been asked by itself."""

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext as _

from runs.errors import NotAllowed
from runs.models import Job, plain
from runs.permissions import Action, Rights, Target, error_of
from runs.protocol.asks import Cancel
from runs.protocol.canonical import derived_event_id

MOST = 1000  #: descendants that one command stops


def lock_below(job: Job) -> list[Job]:
    """Its descendants, level by level, by job id, all locked; nobody joins them now. One more than MOST says
    that there are too many."""
    found: list[Job] = []
    level = [job]
    while level and len(found) <= MOST:
        parents = [each.pk for each in level if each.has_children]
        level = _children(job.tenant_id, parents, MOST + 1 - len(found))
        found += level
    return found


def _children(tenant_id: int, parents: list[int], most: int) -> list[Job]:
    if not parents:
        return []
    marks = ", ".join(["%s"] * len(parents))
    below = f"tenant_id = %s AND parent_id IN ({marks}) ORDER BY job_id LIMIT {most:d}"
    return plain.rows(Job, below, tenant_id, *parents, lock=True)


def unfinished(jobs: Sequence[Job]) -> list[Job]:
    """Those with something left to stop, themselves or below: children before their parents, so that a stop
    that can be confirmed at once is, from the leaves up."""
    waits: set[int | None] = set()
    for job in reversed(jobs):
        if job.pk in waits or (job.result == "open" and job.control != "acknowledged"):
            waits |= {job.pk, job.parent_id}
    return [job for job in reversed(jobs) if job.pk in waits]


def may_stop(job: Job | None, rights: Rights, now: datetime) -> int | None:
    """The grant by which this one may be cancelled too. Raises NotAllowed: a cascade is all or nothing.

    With the job above in sight there is nothing to hide, so never NotVisible.
    """
    assert job is not None
    for action in (Action.VIEW, Action.CANCEL):
        verdict = rights.judge(action, Target.of(job), now=now)
        if not verdict.allowed:
            why = {"why": error_of(verdict)}
            raise NotAllowed(verdict.code, _("A job below this one would be stopped too. %(why)s") % why)
    return verdict.grant


def passed_on(ask: Cancel, job: Job) -> Cancel:
    """The cancel of a descendant: the words of the one above, another cause, and an event id of its own."""
    own = {
        "event_id": derived_event_id(ask.event_id, job.job_id),
        "spec": None,
        "spec_digest": job.spec_digest,
        "cause": "parent_cancelled",
        "cascade": False,
    }
    return ask.model_copy(update=own)
