"""A bulk operation as its page shows it: how far it is, and what each job of its list was answered, beside
what that job is now. Who sees what: `operations.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef

from runs.errors import NotVisible
from runs.models import Job, Operation, OperationJob, snapshot
from runs.permissions import WHOLE, Action, Actor, Rights, visible

from .operations import seen_by, shapes_of

PAGE = 50


@dataclass(frozen=True)
class Row:
    """`status`: the answer's, or the code of the refusal; "" while it was not asked."""

    job: Job
    status: str
    at: datetime | None


@dataclass(frozen=True)
class OperationPage:
    """`shape`: as docs/http.md has it, without its list; `after`: the place that the next page begins at."""

    shape: dict[str, Any]
    own: bool
    rows: list[Row]
    after: int | None


@snapshot()
def operation_page(
    actor: Actor,
    operation_id: str,
    now: datetime,
    *,
    after: int = 0,
    status: str = "",
    only: Sequence[str] | None = None,
) -> OperationPage:
    """The jobs that stand behind place `after`, or `only` these; with `status`, those that were answered so
    ("waiting": those that were not asked). Raises NotVisible."""
    operation = _find(actor, operation_id)
    seen = visible(Job.objects.filter(job_id=OuterRef("job_ref")), actor, now)
    listed = OperationJob.objects.filter(Exists(seen), operation=operation, position__gte=after)
    if only is not None:
        listed = listed.filter(job_ref__in=only)
    if status:
        listed = listed.filter(status="" if status == "waiting" else status)
    found = list(listed.order_by("position")[: PAGE + 1])
    named = [row.job_ref for row in found[:PAGE]]
    jobs = {job.job_id: job for job in Job.objects.filter(tenant_id=actor.tenant_id, job_id__in=named)}
    return OperationPage(
        shapes_of([operation])[0],
        operation.by_id == actor.user_id,
        [Row(jobs[row.job_ref], row.status, row.at) for row in found[:PAGE]],
        found[PAGE].position if len(found) > PAGE else None,
    )


def _find(actor: Actor, operation_id: str) -> Operation:
    found = seen_by(actor).filter(operation_id=operation_id).first()
    if found is None:
        raise NotVisible
    return found


def heading(actor: Actor, operation_id: str) -> tuple[dict[str, Any], bool]:
    """Its shape, and whether the actor asked for it. Raises NotVisible."""
    operation = _find(actor, operation_id)
    return shapes_of([operation])[0], operation.by_id == actor.user_id


def may_abort(rights: Rights, own: bool, now: datetime) -> bool:
    """Who asked may, and who may cancel anywhere in the tenant."""
    return own or rights.judge(Action.CANCEL, WHOLE, now=now).allowed
