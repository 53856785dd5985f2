"""What a bulk operation would meet now, before anybody asks for it: which jobs its list would hold, what each
would be answered, and which are refused to this person. Changes nothing.

The list is frozen only when the operation is taken on; `digest` says whether it is still the one that was
seen.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from runs.ledger import clock
from runs.models import Job, snapshot
from runs.permissions import Action, Actor, Rights, Target, rights_of, visible
from runs.protocol.canonical import digest

from .jobs import JobFilter

MOST = 10_000  #: jobs of one operation
NAMED = 50  #: refused jobs that are named
COLUMNS = ("queue", "owner", "job_id", "title", "control", "result")


@dataclass(frozen=True)
class Foreseen:
    """`jobs`: how many the list would hold (MOST + 1: too many). `answers`: how many of them would get which
    answer, or which refusal's code. `refused`: the first of those, each with its code. `unseen`: how many
    were named of which this person sees none."""

    jobs: int
    digest: str
    answers: dict[str, int]
    refused: tuple[tuple[str, str, str], ...]  #: job id, title, code
    unseen: int = 0

    @property
    def too_many(self) -> bool:
        return self.jobs > MOST

    @property
    def refusals(self) -> int:
        return sum(count for answer, count in self.answers.items() if answer not in STATES)


STATES = ("requested", "already_requested", "too_late")


def matching(actor: Actor, conditions: dict[str, Any], now: datetime) -> QuerySet[Job]:
    """Jobs that fit and that the actor sees now, oldest first. Raises ValueError for what is no condition."""
    fits = JobFilter(**conditions).condition
    jobs = visible(Job.objects.filter(fits, tenant_id=actor.tenant_id), actor, now)
    return jobs.order_by("created_at", "id")


@snapshot()
def foreseen(
    actor: Actor, *, named: Sequence[str] = (), conditions: dict[str, Any] | None = None
) -> Foreseen:
    """Of the jobs named, or of those that meet the conditions. Raises as `matching`."""
    now = clock()
    rights = rights_of(actor, now)
    if named:
        fit = Job.objects.filter(tenant_id=actor.tenant_id, job_id__in=named)
        jobs = visible(fit, actor, now).order_by("created_at", "id")
    else:
        jobs = matching(actor, conditions or {}, now)
    rows = list(jobs.values_list(*COLUMNS)[: MOST + 1])
    answers, refused = _judged(rows[:MOST], rights, now)
    listed = list(named) or [row[2] for row in rows]
    unseen = len(named) - len(rows) if named else 0
    return Foreseen(len(listed), digest(listed), dict(answers), tuple(refused[:NAMED]), unseen)


def _judged(
    rows: list[tuple[str, ...]], rights: Rights, now: datetime
) -> tuple[Counter[str], list[tuple[str, str, str]]]:
    answers: Counter[str] = Counter()
    refused = []
    singled = {held.job for held in rights.grants if held.job}
    verdicts: dict[tuple[str, str, str], Any] = {}
    for queue, owner, job_id, title, control, result in rows:
        place = (queue, owner, job_id if job_id in singled else "")
        if place not in verdicts:
            verdicts[place] = rights.judge(Action.CANCEL, Target(queue, owner, job_id), now=now)
        verdict = verdicts[place]
        if not verdict.allowed:
            answers[verdict.code] += 1
            refused.append((job_id, title, verdict.code))
            continue
        answers[
            "already_requested" if control != "run" else "too_late" if result != "open" else "requested"
        ] += 1
    return answers, refused
