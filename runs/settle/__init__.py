"""The settle loop (PROTOCOL section 10): what time brings, and what a crash left behind.

Each finding is one command of its own, which locks the job and judges it anew. So a pass can be killed
anywhere and repeated, and any number of loops may run at once: the second to come finds nothing left to do.
A start never touches a claim whose lease is live. What waits for somebody outside (verifiers, `checking.py`;
alerts, `alerting.py`) waits in a thread of its own, outside of any transaction, and keeps no pass waiting.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from threading import Event

from django.db import Error, close_old_connections
from django.db.models import Exists, F, Min, OuterRef, Q, QuerySet

from runs import ledger, tallies
from runs.asides import Asides
from runs.commands import do, operations
from runs.errors import CancelboardError
from runs.models import Job, Proposal, Step
from runs.permissions import Actor
from runs.protocol.asks import Ask, Checkpoint, Escalate, Expire, Lapse

from . import alerting, checking

logger = logging.getLogger(__name__)

AT_WORK = 0.2  #: seconds between two passes while an operation has jobs left, or somebody is asked


def one_pass(asides: Asides | None = None) -> Counter[str]:
    """Do all that is due now. Returns how many commands gave which answer, such as `{"lapsed": 2}`.

    With `asides` what waits for somebody outside is only begun, and what has ended is recorded; without, it
    is waited for.
    """
    if asides is None:
        return _whole_pass(Asides())
    done = _duties()
    for duty in (_collect, checking.start, alerting.start, _count):
        try:
            done += duty(asides)
        except Exception:
            logger.exception("a part of a settle pass failed; the next one repeats it")
            done["failed"] += 1
    return done


def _whole_pass(asides: Asides) -> Counter[str]:
    done = one_pass(asides)
    while len(asides):
        asides.wait()
        done += _collect(asides)
    return done


def _collect(asides: Asides) -> Counter[str]:
    return Counter(finish() for finish in asides.collect())


def _count(_asides: Asides) -> Counter[str]:
    tallies.fold()
    return Counter()


def _duties() -> Counter[str]:
    done: Counter[str] = Counter()
    for job, ask in due(ledger.clock()):
        try:
            done[do(Actor.system(job.tenant), job.job_id, ask).status] += 1
        except CancelboardError as error:
            logger.warning("%s of %s is left to the next pass: %s", ask.kind, job.job_id, error)
            done["left"] += 1
        except Exception:  # a fault of ours or of the rows: it must not keep every job behind it waiting
            logger.exception("%s of %s failed", ask.kind, job.job_id)
            done["failed"] += 1
    done += operations.work_off(ledger.clock())
    return done


def due(now: datetime) -> Iterator[tuple[Job, Ask]]:
    """The jobs that something is due for, and what; judged again by the command itself."""
    for job in _each(lapsed(now)):
        yield job, Lapse()
    for job in _each(Job.objects.filter(control="requested", unsettled_since__isnull=True)):
        yield job, Checkpoint()
    unsettled = Job.objects.filter(control="requested", unsettled_since__isnull=False)
    for job in _each(unsettled.filter(escalated_seq__isnull=True, grace_until__lte=now)):
        yield job, Escalate()
    for proposal in Proposal.objects.filter(state="open", expires_at__lte=now).select_related("job__tenant"):
        yield proposal.job, Expire(proposal=proposal.proposal_id)


def lag(now: datetime) -> float:
    """Seconds that the oldest finding with a time of its own has been due: a lease, a grace, a proposal.
    Near 0 while a loop runs; it grows when none does."""
    waiting = Job.objects.filter(
        control="requested", unsettled_since__isnull=False, escalated_seq__isnull=True
    )
    proposals = Proposal.objects.filter(state="open", expires_at__lte=now)
    since = (
        lapsed(now).order_by("lease_expires_at").values_list("lease_expires_at", flat=True).first(),
        waiting.filter(grace_until__lte=now).aggregate(least=Min("grace_until"))["least"],
        proposals.aggregate(least=Min("expires_at"))["least"],
    )
    return max(((now - at).total_seconds() for at in since if at is not None), default=0.0)


def lapsed(now: datetime) -> QuerySet[Job]:
    """Jobs whose step is out under a lease that has ended, where section 5 has that step move."""
    marked = Step.objects.filter(
        job=OuterRef("pk"), ordinal=OuterRef("position"), dispatched_at__isnull=False
    )
    out = Job.objects.filter(unsettled_since__isnull=False, cur="inflight")
    ended = Q(lease_expires_at__lte=now) | Q(lease_expires_at__isnull=True)
    may_come_back = Q(dispatch="marked", control="run") & ~Exists(marked)
    return out.filter(ended).exclude(may_come_back).order_by(F("unsettled_since"), "id")


def _each(jobs: QuerySet[Job]) -> Iterator[Job]:
    """The list is taken first: the commands that follow change what it was taken from."""
    return iter(list(jobs.select_related("tenant").only("job_id", "tenant")))


def _is_waiting() -> bool:
    """Whether there is an operation to go on with; a database that is away answers in the next pass."""
    try:
        return operations.is_waiting()
    except Error:
        return False


def loop(every: float, stop: Event) -> None:
    """A pass at once, then one every `every` seconds, until `stop` is set. A failed pass is logged, not
    fatal."""
    asides = Asides()
    while not stop.is_set():
        close_old_connections()  # one that died is not mended by itself: nobody else does it in this thread
        try:
            done = one_pass(asides)
        except Exception:
            logger.exception("a settle pass failed; the next one repeats it")
        else:
            if done:
                logger.info(
                    "settle pass: %s", ", ".join(f"{count} {status}" for status, count in done.items())
                )
        stop.wait(min(every, AT_WORK) if len(asides) or _is_waiting() else every)
