"""Every command, as its six lines: lock, authorise, replay?, decide, write, announce on commit."""

import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import (
    DatabaseError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    OperationalError,
    connection,
    transaction,
)

from runs import metrics
from runs.errors import Busy, CancelboardError
from runs.models import Job, Tenant
from runs.permissions import Action, Actor, counting
from runs.protocol.asks import Ask, Checkpoint, Lapse
from runs.protocol.decide import decide
from runs.protocol.tables import TABLES

from . import tombstones, write
from .locked import ACTIONS, At, lock
from .write import Answer

Tried = TypeVar("Tried")

logger = logging.getLogger(__name__)

TRIES = 6
PATIENCE = 15.0  #: seconds after which no further try begins
UNIQUE = "23505"
#: InternalError: a transaction that the server ended because it idled, or a server that takes only reads.
AWAY = (OperationalError, InterfaceError, InternalError)


def do(actor: Actor, job_id: str | None, ask: Ask) -> Answer:
    """Carry out one command, durably, or refuse it; the whole of PROTOCOL section 4 goes through here.

    `job_id` is None for `seal` alone. Returns the answer, also the remembered refusals. Raises NotVisible,
    NotAllowed, Unauthenticated, Invalid (nothing was kept, the event id is free) and Busy (send it again).
    """
    with counting(actor, ACTIONS.get(ask.kind, Action.EXECUTE), job_id or ""), metrics.timed(ask.kind):
        answer, at = tried(lambda: _once(actor, job_id, ask))
    metrics.COMMANDS.labels(ask.kind, answer.status, answer.replayed).inc()
    _confirm_ancestors(at)
    return answer


def _once(actor: Actor, job_id: str | None, ask: Ask) -> tuple[Answer, At]:
    with transaction.atomic(durable=True):
        at = lock(actor, job_id, ask)
        at.authorise()
        at.look()
        return write.replay(at) or _decided(at, ask), at


def _decided(at: At, ask: Ask) -> Answer:
    at.check_names()
    for each in at.below:
        each.look()
        write.write(each, decide(TABLES["cancel"], each.world, each.ask), each.ask)
        write.confirm_if_settled(each)
    if at.below:
        at.look()  # fewer children are unfinished now
    if ask.kind == "reconcile" and at.world.job is not None:
        lapse = decide(TABLES["lapse"], at.world, Lapse())  # a lapsed lease counts as lapsed at once
        if lapse.row.kept:
            write.write(at, lapse, Lapse(), by_system=True)
    decision = decide(TABLES[ask.kind], at.world, ask)
    if decision.row.status == "tombstoned":
        tombstones.take(at)
    answer = write.write(at, decision, ask)
    if ask.kind == "seal" and answer.status == "sealed":
        Tenant.objects.filter(id=at.tenant.id).update(sealed_generation=at.world.sealed_generation)
    if answer.receipt is not None:
        write.confirm_if_settled(at)
    return answer


def tried(once: Callable[[], Tried]) -> Tried:
    """Decide again on what is there now, a bounded number of times: a lost race for a unique name, a
    deadlock, a busy or restarted database are no decision."""
    began = time.monotonic()
    for attempt in range(TRIES):
        if time.monotonic() - began > PATIENCE:
            break
        if attempt and not connection.in_atomic_block:
            connection.close_if_unusable_or_obsolete()
            time.sleep(random.uniform(0, 0.02 * 2**attempt))  # noqa: S311 (spreads the losers, guards nothing)
        try:
            return once()
        except AWAY as error:
            logger.warning(
                "the database could not take a command, try %d of %d: %s", attempt + 1, TRIES, error
            )
        except IntegrityError as error:
            if not _lost_a_race(error):
                raise
    raise Busy


def _lost_a_race(error: DatabaseError) -> bool:
    """Somebody else took the job id or the event id first. Any other broken constraint is a fault of ours."""
    if getattr(error.__cause__, "sqlstate", None) == UNIQUE:
        return True
    return "UNIQUE constraint failed" in str(error) or "REPLACE refused" in str(error)


def _confirm_ancestors(at: At) -> None:
    """A child that ended may have been what its ancestors' stops waited for: one later transaction each,
    going up. A failure never changes the child's answer; the settle loop finds what was left."""
    if at.row is None or at.row.parent_id is None:
        return
    if at.row.result == "open" and at.row.control != "acknowledged":
        return
    try:
        parent = Job.objects.values_list("job_id", flat=True).get(id=at.row.parent_id)
        do(Actor.system(at.tenant), parent, Checkpoint())  # which goes on upwards if that is an end too
    except (CancelboardError, Error) as error:
        logger.warning(
            "the checkpoint of the parent of %s is left to the settle loop: %s", at.row.job_id, error
        )
