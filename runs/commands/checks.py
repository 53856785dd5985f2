"""Look-ups of unknown steps (docs/protocol.md, section 10): which are due, and what becomes of a finding.

Three steps, and only the middle one is slow: `take` books some look-ups in a short transaction, the settle
loop has the verifiers ask, `record` writes what they found. Any number of loops may run: a booking is made
under the receiver's lock, so no more look-ups than allowed are under way at one receiver, whoever makes them.
A loop that dies leaves bookings that end by themselves.

What a verifier found is recorded by the usual command, as a person's entry would be; what it did not find is
an observation, kept when a person asked for the look-up or the answer is another than the last.
"""

import json
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from pydantic import ValidationError

from runs import ledger, verifiers
from runs.errors import NotVisible
from runs.models import Check, Step, Tool
from runs.permissions import Action, Actor, counting, lock_receiver
from runs.protocol import asks
from runs.protocol.canonical import derived_event_id, idempotency_key
from runs.protocol.evidence import Evidence
from runs.verifiers import Finding, Question, Verifier

from .locked import lock
from .spine import do, tried

logger = logging.getLogger(__name__)

FIRST, LONGEST = 10.0, 3600.0  #: seconds between two look-ups of a step: doubled each time, with jitter
SLACK = 20  #: seconds beyond its time after which whoever made a look-up is taken for dead
AGAIN = timedelta(seconds=3)  #: however often somebody presses the button


@dataclass(frozen=True)
class Booked:
    """One look-up to be made now: of which row of Check, its how manieth, by whom, what is asked."""

    check: int
    tries: int
    actor: Actor
    verifier: Verifier
    question: Question
    asked_by: str
    last: str


@dataclass(frozen=True)
class Again:
    """Somebody wants a look-up now. No command of the protocol: nothing of the job changes."""

    ordinal: int
    kind: ClassVar[str] = "check"


def take(stuck: Callable[[str], int]) -> list[Booked]:
    """Book the look-ups that are due, as far as their receivers have room. `stuck`: how many of this process
    were given up and still wait for a receiver."""
    booked: list[Booked] = []
    for tool in Tool.objects.exclude(verifier="").select_related("tenant").order_by("pk"):
        verifier = verifiers.of(tool)
        if verifier is None:
            logger.warning("tool %s names the verifier %s, which can't be asked here", tool, tool.verifier)
        elif _due(tool, ledger.clock()).exists():
            booked += tried(lambda tool=tool, verifier=verifier: _take(tool, verifier, stuck))  # type: ignore[misc]
    return booked


def _take(tool: Tool, verifier: Verifier, stuck: Callable[[str], int]) -> list[Booked]:
    with transaction.atomic(durable=True):
        lock_receiver(verifier.receiver)
        now = ledger.clock()
        running = Check.objects.filter(receiver=verifier.receiver, running_until__gt=now).count()
        room = settings.CANCELBOARD_CHECKS_AT_ONCE - max(running, stuck(verifier.receiver))
        if room <= 0:
            return []
        steps = _due(tool, now).select_related("job")[:room]
        return [_book(tool, verifier, step, now) for step in steps]


def _due(tool: Tool, now: datetime) -> QuerySet[Step]:
    """Unknown steps of the tool that nobody asks about now, the longest due first."""
    checks = Check.objects.filter(job=OuterRef("job"), ordinal=OuterRef("ordinal"))
    waits = checks.filter(Q(due_at__gt=now) | Q(running_until__gt=now))
    steps = Step.objects.filter(tenant=tool.tenant, tool=tool.name, state="unknown")
    due = Coalesce(Subquery(checks.values("due_at")[:1]), F("job__unsettled_since"))
    return steps.filter(~Exists(waits)).annotate(due=due).order_by("due", "pk")


def _book(tool: Tool, verifier: Verifier, step: Step, now: datetime) -> Booked:
    check = Check.objects.filter(job=step.job, ordinal=step.ordinal).select_related("asked_by").first()
    if check is None:
        check = Check(tenant=tool.tenant, job=step.job, ordinal=step.ordinal, due_at=now)
    check.verifier, check.receiver, check.tries = verifier.name, verifier.receiver, check.tries + 1
    check.running_until = now + timedelta(seconds=settings.CANCELBOARD_CHECK_SECONDS + SLACK)
    check.save()
    tenant = tool.tenant
    key = idempotency_key(tenant.name, step.job.job_id, step.ordinal)
    sent_at = step.dispatched_at if step.job.dispatch == "marked" else step.reserved_at
    question = Question(
        tenant.name,
        step.job.job_id,
        step.ordinal,
        key,
        step.tool,
        step.target,
        sent_at,
        json.loads(step.params),
    )
    asked_by = check.asked_by.name if check.asked_by else ""
    actor = Actor.verifier(tenant, verifier.name)
    return Booked(check.pk, check.tries, actor, verifier, question, asked_by, check.answer)


def record(booked: Booked, found: Finding) -> str:
    """Write what a look-up found. Returns the status of the answer: `settled`, `observed`, a refusal's, or
    `not_known` where nothing was kept. Raises as `do`; the look-up is then repeated."""
    try:
        ask = _ask(booked, found)
    except ValidationError:
        found = Finding.not_known("ambiguous", "The receiver's answer can't be kept as it is.")
        ask = _ask(booked, found)
    status = "not_known"
    if ask is not None:
        status = do(booked.actor, booked.question.job_id, ask).status
    now = ledger.clock()
    _mine(booked).update(
        running_until=None,
        answered_at=now,
        answer=found.kind,
        said=found.text,
        due_at=now + wait(booked.tries),
        asked_by=None,
    )
    return status


def put_off(booked: Booked) -> None:
    """The look-up, or its record, failed by a fault of ours: it is repeated later, and says nothing."""
    _mine(booked).update(running_until=None, due_at=ledger.clock() + wait(booked.tries))


def _mine(booked: Booked) -> QuerySet[Check]:
    """Its row, unless a later look-up has taken it over."""
    return Check.objects.filter(pk=booked.check, tries=booked.tries)


def wait(tries: int) -> timedelta:
    """How long until the next look-up: doubled each time, with jitter, so that many steps spread out."""
    seconds = min(LONGEST, FIRST * 2.0 ** min(tries - 1, 20))
    return timedelta(seconds=seconds * random.uniform(0.5, 1.0))  # noqa: S311 (spreads, guards nothing)


def _ask(booked: Booked, found: Finding) -> asks.Ask | None:
    """The command that records it; its event id is this try's own, so whoever repeats it repeats nothing."""
    question = booked.question
    evidence = Evidence(kind=found.kind, text=found.text)  # type: ignore[arg-type]
    ask: asks.Reconcile | asks.Observe
    if found.outcome:
        ask = asks.Reconcile(
            event_id="derived",
            ordinal=question.ordinal,
            outcome=found.outcome,  # type: ignore[arg-type]
            value=found.value,
            evidence=evidence,
        )
    elif booked.asked_by or found.kind != booked.last:
        note = f"Asked for by {booked.asked_by}." if booked.asked_by else ""
        ask = asks.Observe(event_id="derived", ordinal=question.ordinal, note=note, evidence=evidence)
    else:
        return None
    named = ("check", question.job_id, str(question.ordinal), str(booked.tries), ask.kind)
    return ask.model_copy(update={"event_id": derived_event_id(*named)})


def again(actor: Actor, job_id: str, ordinal: int) -> bool:
    """Have a step looked up as soon as a settle loop comes by. False: it is not unknown, or its tool has no
    verifier. Who may: who may record its outcome. Raises NotVisible, NotAllowed, Busy."""
    with counting(actor, Action.RECONCILE, job_id):
        return tried(lambda: _again(actor, job_id, ordinal))


def _again(actor: Actor, job_id: str, ordinal: int) -> bool:
    with transaction.atomic(durable=True):
        at = lock(actor, job_id, Again(ordinal))
        at.authorise()
        if at.row is None:
            raise NotVisible
        step = Step.objects.filter(job=at.row, ordinal=ordinal, state="unknown").first()
        tool = step and Tool.objects.filter(tenant=at.tenant, name=step.tool).exclude(verifier="").first()
        if step is None or not tool:
            return False
        check = Check.objects.filter(job=at.row, ordinal=ordinal).first() or Check(
            tenant=at.tenant, job=at.row, ordinal=ordinal, verifier=tool.verifier
        )
        soonest = check.answered_at + AGAIN if check.answered_at else at.now
        check.due_at, check.asked_by_id = max(at.now, soonest), actor.user_id
        check.save()
        return True
