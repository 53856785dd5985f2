"""Bulk operations (docs/http.md, POST /operations): take one on, abort it, and ask its jobs one by one.

The list is frozen with the receipt that took it on. Each job is then asked by the usual command, for the
asker and by their token, judged at its turn. Its event id is derived from the operation's and the job's:
whoever asks again after a crash gets the first answer again, so nothing is done twice. Any number of loops
may work at once.
"""

import logging
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from runs import ledger
from runs.errors import Busy, CancelboardError, FieldError, Invalid, NotVisible, TooMany
from runs.models import Job, Operation, OperationJob, Receipt
from runs.permissions import WHOLE, Action, Actor, counting, error_of
from runs.protocol.asks import Abort, Cancel, Operate
from runs.protocol.canonical import NO_DIGEST, canonical, derived_event_id, digest
from runs.protocol.states import ActorType
from runs.queries.foreseen import MOST, matching

from . import write
from .locked import UNAUTHENTICATED, At, lock
from .spine import do, tried
from .write import Answer

logger = logging.getLogger(__name__)

AT_ONCE = 100  #: jobs of one operation in one pass: other duties wait for it
IN_FLIGHT = timedelta(minutes=5)  #: how long after an abort a job that was just being asked may still answer


def start(actor: Actor, ask: Operate) -> Answer:
    """Take an operation on: freeze its list. Asks no job yet.

    Raises NotAllowed where the actor may cancel nothing at all, Invalid, Busy.
    """
    with counting(actor, Action.CANCEL, ""):
        return tried(lambda: _start(actor, ask))


def _start(actor: Actor, ask: Operate) -> Answer:
    with transaction.atomic(durable=True):
        at = lock(actor, None, ask)
        _require_some_right(at)
        at.look()
        if again := write.replay(at):
            return again
        at.check_names()
        assert actor.user_id is not None  # the system asks job by job
        listed = list(ask.job_ids or _matching(at, ask))
        operation = Operation.objects.create(
            tenant=at.tenant,
            operation_id="op-" + digest([at.tenant.name, ask.event_id])[:20],
            event_id=ask.event_id,
            command=ask.command,
            title=ask.title,
            cause=ask.cause,
            note=ask.note,
            filter=canonical(ask.conditions) if ask.filter else "",
            jobs=len(listed),
            by_id=actor.user_id,
            token_id=actor.token_id,
            created_at=at.now,
            **({} if listed else {"state": "done", "ended_at": at.now}),
        )
        OperationJob.objects.bulk_create(
            (
                OperationJob(operation=operation, position=position, job_ref=job_id)
                for position, job_id in enumerate(listed)
            ),
            batch_size=500,
        )
        frozen = {"jobs": len(listed), "list_digest": digest(listed)}
        return _receipt(at, ask, "accepted", operation, frozen)


def abort(actor: Actor, ask: Abort) -> Answer:
    """Ask no further job. A job that a loop is just asking may still be answered.

    Who asked may abort, and who may cancel anywhere in the tenant. Raises NotVisible, NotAllowed, Busy.
    """
    with counting(actor, Action.CANCEL, ""):
        return tried(lambda: _abort(actor, ask))


def _abort(actor: Actor, ask: Abort) -> Answer:
    with transaction.atomic(durable=True):
        at = lock(actor, None, ask)
        _require_credentials(at)
        rows = Operation.objects.select_for_update().filter(tenant=at.tenant, operation_id=ask.operation)
        operation = rows.first()
        if operation is None:
            raise NotVisible
        if operation.by_id != actor.user_id:
            if not at.rights.judge(Action.VIEW, WHOLE, now=at.now).allowed:
                raise NotVisible
            _require(at)
        at.look()
        if again := write.replay(at):
            return again
        if operation.state != "open":
            return _receipt(at, ask, "already_ended", operation, {})
        Operation.objects.filter(pk=operation.pk).update(
            state="aborted", ended_at=at.now, aborted_by=actor.user_id
        )
        return _receipt(at, ask, "aborted", operation, {})


def _require_credentials(at: At) -> None:
    dead = at.rights.judge(Action.VIEW, WHOLE, now=at.now)
    if dead.code in UNAUTHENTICATED:
        raise error_of(dead)


def _require_some_right(at: At) -> None:
    """A cancel that counts somewhere: each job asks again for itself."""
    _require_credentials(at)
    if not at.rights.anywhere(Action.CANCEL, at.now):
        _require(at)


def _require(at: At) -> None:
    verdict = at.rights.judge(Action.CANCEL, WHOLE, now=at.now)
    if not verdict.allowed:
        raise error_of(verdict)
    at.grant = verdict.grant


def _matching(at: At, ask: Operate) -> QuerySet[Job, str]:
    """Jobs that fit and that the asker sees now, oldest first."""
    try:
        jobs = matching(at.actor, ask.conditions, at.now)
    except ValueError:  # only its headline is a word that this shape could not check
        raise Invalid(FieldError("filter.headline", "is no headline")) from None
    found = jobs.values_list("job_id", flat=True)[: MOST + 1]
    if len(found) > MOST:
        raise Invalid(FieldError("filter", f"fits more than {MOST} jobs: narrow it"))
    return found


def _receipt(at: At, ask: Any, status: str, operation: Operation, facts: dict[str, Any]) -> Answer:
    told = {
        "operation": {
            "operation_id": operation.operation_id,
            "command": operation.command,
            "title": operation.title,
            "jobs": operation.jobs,
        }
    }
    may = {"action": Action.CANCEL, "grant": at.grant, "token": at.actor.token_id}
    receipt = ledger.append(
        at.tenant.id,
        None,
        None,
        seq=None,
        event_id=ask.event_id,
        kind=ask.kind,
        status=status,
        actor={"type": str(at.actor.type), "name": at.actor.name},
        ordinal=None,
        body=ask.content(),
        detail={**may, "operation": operation.operation_id, **facts, "answer": told},
        at=at.now,
    )
    return Answer(202 if status == "accepted" else 200, status, False, receipt, told)


# -- working it off: the settle loop's ----------------------------------------------------------------------


def is_waiting() -> bool:
    """Whether some operation has jobs left to ask."""
    return Operation.objects.filter(state="open").exists()


def work_off(now: datetime) -> Counter[str]:
    """Ask the next jobs of each open operation. Returns how many gave which answer."""
    done: Counter[str] = Counter()
    _record_the_late(now)
    for operation in Operation.objects.filter(state="open").select_related("tenant", "by").order_by("id"):
        actor = Actor(
            ActorType(operation.by.kind),
            operation.by.name,
            operation.tenant_id,
            operation.tenant.name,
            operation.by_id,
            operation.token_id,
        )
        for pk, job_id in _left(operation).values_list("pk", "job_ref")[:AT_ONCE]:
            still = OperationJob.objects.filter(pk=pk, status="", operation__state="open")
            if not still.exists():  # another loop was here, or it was aborted
                continue
            if status := _ask(actor, operation, job_id):
                _record(pk, status)
            done[status or "left"] += 1
        if not _left(operation).exists():
            Operation.objects.filter(pk=operation.pk, state="open").update(
                state="done", ended_at=ledger.clock()
            )
    return done


def _left(operation: Operation) -> QuerySet[OperationJob]:
    return OperationJob.objects.filter(operation=operation, status="").order_by("position")


def _ask(actor: Actor, operation: Operation, job_id: str) -> str | None:
    """The answer's status or the refusal's code; None: not answered yet, the next pass asks again."""
    job = Job.objects.filter(tenant=operation.tenant, job_id=job_id).values_list("spec_digest", flat=True)
    ask = Cancel(
        event_id="derived", spec_digest=job.first() or NO_DIGEST, cause=operation.cause, note=operation.note
    ).model_copy(update={"event_id": derived_event_id(operation.event_id, job_id)})
    try:
        return do(actor, job_id, ask).status
    except (Busy, TooMany):
        return None
    except CancelboardError as error:
        return error.code
    except Exception:  # a fault of ours or of the rows: it must not keep the rest of the list waiting
        logger.exception("the cancel of %s in %s failed", job_id, operation.operation_id)
        return _answered(operation, [job_id]).get(job_id, "failed")


def _record(pk: int, status: str) -> None:
    OperationJob.objects.filter(pk=pk, status="").update(status=status, at=ledger.clock())


def _record_the_late(now: datetime) -> None:
    """A loop that was killed between a job's answer and its record, and then the operation was aborted: the
    ledger knows the answer."""
    aborted = Operation.objects.filter(state="aborted", ended_at__gt=now - IN_FLIGHT)
    for operation in aborted.select_related("tenant"):
        left = dict(_left(operation).values_list("job_ref", "pk"))
        for job_id, status in _answered(operation, list(left)).items():
            _record(left[job_id], status)


def _answered(operation: Operation, job_ids: list[str]) -> dict[str, str]:
    """By job: the status of the receipt that answered it, where there is one."""
    by_event = {derived_event_id(operation.event_id, job_id): job_id for job_id in job_ids}
    found: dict[str, str] = {}
    for start in range(0, len(job_ids), 500):
        chunk = list(by_event)[start : start + 500]
        kept = Receipt.objects.filter(tenant=operation.tenant, event_id__in=chunk)
        found |= {by_event[event or ""]: status for event, status in kept.values_list("event_id", "status")}
    return found
