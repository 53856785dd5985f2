"""Bulk operations as docs/http.md shows them: one with the answers of its jobs, and a page of them.

Who asked for it sees it, and who sees the whole tenant. A job of the list is shown to who may see that job.
"""

import json
from collections import defaultdict
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from runs.errors import NotVisible
from runs.ledger import as_text, clock
from runs.models import Job, Operation, OperationJob, snapshot
from runs.permissions import WHOLE, Action, Actor, rights_of, visible
from runs.protocol.canonical import derived_event_id

from .cursor import page


@snapshot()
def one(actor: Actor, operation_id: str, after: int, limit: int) -> dict[str, Any]:
    """The operation, with the jobs that stand behind place `after` in its list. Raises NotVisible."""
    now = clock()
    operation = seen_by(actor).filter(operation_id=operation_id).first()
    if operation is None:
        raise NotVisible
    seen = visible(Job.objects.filter(job_id=OuterRef("job_ref")), actor, now)
    rows = OperationJob.objects.filter(Exists(seen), operation=operation, position__gte=after)
    found = list(rows.order_by("position")[: limit + 1])
    more = found[limit].position if len(found) > limit else None
    listed = [_job(operation, row) for row in found[:limit]]
    return {**shapes_of([operation])[0], "list": listed, "next_after": more}


@snapshot()
def listed(actor: Actor, cursor: str | None, limit: int) -> dict[str, Any]:
    """`{"operations": […], "next_cursor"}`, newest first."""
    found, after = page(seen_by(actor), cursor, limit)
    return {"operations": shapes_of(found), "next_cursor": after}


def seen_by(actor: Actor) -> QuerySet[Operation]:
    """Those that the actor may see."""
    now = clock()
    rights = rights_of(actor, now)
    whole = rights.judge(Action.VIEW, WHOLE, now=now).allowed
    own = Q(by_id=actor.user_id) if rights.active else Q(pk__in=())
    rows = Operation.objects.filter(Q() if whole else own, tenant_id=actor.tenant_id)
    return rows.select_related("by", "aborted_by")


def shapes_of(operations: list[Operation]) -> list[dict[str, Any]]:
    """As docs/http.md shows them, without their lists; one statement."""
    answers: dict[int, dict[str, int]] = defaultdict(dict)
    rows = OperationJob.objects.filter(operation__in=operations).exclude(status="")
    for pk, status, n in rows.values_list("operation_id", "status").annotate(n=Count("id")):
        answers[pk][status] = n
    return [_shape(operation, answers[operation.pk]) for operation in operations]


def _shape(operation: Operation, answers: dict[str, int]) -> dict[str, Any]:
    return {
        "operation_id": operation.operation_id,
        "event_id": operation.event_id,
        "command": operation.command,
        "title": operation.title,
        "cause": operation.cause,
        "note": operation.note,
        "filter": json.loads(operation.filter) if operation.filter else None,
        "by": operation.by.name,
        "state": operation.state,
        "jobs": operation.jobs,
        "answered": sum(answers.values()),
        "answers": dict(sorted(answers.items())),
        "created_at": as_text(operation.created_at),
        "ended_at": as_text(operation.ended_at) if operation.ended_at else None,
        "aborted_by": operation.aborted_by.name if operation.aborted_by else None,
    }


def _job(operation: Operation, row: OperationJob) -> dict[str, Any]:
    return {
        "n": row.position,
        "job_id": row.job_ref,
        "event_id": derived_event_id(operation.event_id, row.job_ref),
        "status": row.status or None,
        "at": as_text(row.at) if row.at else None,
    }
