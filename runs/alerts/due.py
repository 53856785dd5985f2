"""Which alerts there are, and what has become of each on each channel."""

import logging
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from runs.models import Alert, AlertSent, Job, Queue, Step
from runs.protocol.canonical import idempotency_key

from .channels import configured

logger = logging.getLogger(__name__)

AT_ONCE = 100  #: alerts in one message
TAKEN = timedelta(seconds=90)  #: after which whoever was telling is taken for dead
FIRST, LONGEST = 30.0, 3600.0  #: seconds between two tries: doubled each time, with jitter
MOST_TRIES = 24  #: the better part of a day


@dataclass(frozen=True)
class Batch:
    """What one channel is to be told now: rows of AlertSent, and the alerts as their readers see them."""

    channel: str
    rows: tuple[int, ...]
    alerts: tuple[dict[str, Any], ...]


def raise_due(now: datetime) -> int:
    """Make the alerts that are due. Returns how many are to be told."""
    told = 0
    for queue in Queue.objects.select_related("tenant"):
        new: set[int] = set()
        for times in sorted(settings.CANCELBOARD_ALERT_TIMES, reverse=True):
            for job in _past(queue, times, now)[:1000]:
                told += _raise(queue, job, times, now, silent=job.pk in new)
                new.add(job.pk)
    return told


def _past(queue: Queue, times: int, now: datetime) -> QuerySet[Job]:
    """Jobs of the queue whose unknown step passed this threshold, and have no such alert yet."""
    since = now - timedelta(seconds=queue.limit_seconds * times)
    unknown = Job.objects.filter(
        tenant=queue.tenant, queue=queue.name, cur="unknown", unsettled_since__lte=since
    )
    known = Alert.objects.filter(job=OuterRef("pk"), ordinal=OuterRef("position"), times=times)
    return unknown.filter(~Exists(known)).order_by("unsettled_since", "pk")


def _raise(queue: Queue, job: Job, times: int, now: datetime, silent: bool) -> bool:
    """One alert, unless another loop was first. `silent`: a higher threshold is told in its stead."""
    assert job.unsettled_since is not None  # an unknown step is unsettled
    with transaction.atomic():
        alert, new = Alert.objects.get_or_create(  # of two loops the database lets one make it
            job=job,
            ordinal=job.position,
            times=times,
            defaults={
                "tenant": queue.tenant,
                "limit_seconds": queue.limit_seconds,
                "since": job.unsettled_since,
                "at": now,
            },
        )
        told = new and not silent
        channels = configured() if told else []
        AlertSent.objects.bulk_create(
            AlertSent(alert=alert, channel=channel, due_at=now) for channel in channels
        )
    return told


def take(now: datetime) -> list[Batch]:
    """What is to be told now, for each channel at most one message; nobody else takes it meanwhile."""
    return [batch for channel in configured() if (batch := _take(channel, now))]


def _take(channel: str, now: datetime) -> Batch | None:
    idle = Q(running_until__isnull=True) | Q(running_until__lte=now)
    waiting = AlertSent.objects.filter(idle, channel=channel, state="waiting", due_at__lte=now)
    if not waiting.exists():
        return None
    with transaction.atomic(durable=True):
        locked = waiting.select_for_update(skip_locked=True, of=("self",))
        rows = list(locked.select_related("alert__job", "alert__tenant").order_by("due_at", "pk")[:AT_ONCE])
        needless = [row.pk for row in rows if not _still(row.alert)]
        AlertSent.objects.filter(pk__in=needless).update(state="needless", ended_at=now, running_until=None)
        rows = [row for row in rows if row.pk not in needless]
        AlertSent.objects.filter(pk__in=[row.pk for row in rows]).update(
            running_until=now + TAKEN, tries=F("tries") + 1
        )
    if not rows:
        return None
    return Batch(channel, tuple(row.pk for row in rows), tuple(_shown(row.alert) for row in rows))


def _still(alert: Alert) -> bool:
    return alert.job.cur == "unknown" and alert.job.position == alert.ordinal


def _shown(alert: Alert) -> dict[str, Any]:
    """One alert as its readers see it. No target, value or note: those are the board's to show."""
    tenant, job = alert.tenant.name, alert.job.job_id
    tool = Step.objects.values_list("tool", flat=True).get(job=alert.job, ordinal=alert.ordinal)
    base = settings.CANCELBOARD_URL
    return {
        "id": f"{tenant}/{job}/{alert.ordinal}/{alert.times}",
        "tenant": tenant,
        "job_id": job,
        "ordinal": alert.ordinal,
        "queue": alert.job.queue,
        "tool": tool,
        "idempotency_key": idempotency_key(tenant, job, alert.ordinal),
        "cancel_requested": alert.job.control == "requested",
        "unknown_since": f"{alert.since:%Y-%m-%dT%H:%M:%S.%fZ}",
        "limit_seconds": alert.limit_seconds,
        "times": alert.times,
        "url": f"{base}/jobs/{job}/" if base else None,
    }


def mark(batch: Batch, trouble: str, now: datetime) -> str:
    """Note that a message went out (`trouble` is empty), or why not. Returns what has become of it."""
    rows = AlertSent.objects.filter(pk__in=batch.rows, state="waiting")
    if not trouble:
        rows.update(state="sent", ended_at=now, running_until=None, trouble="")
        return "sent"
    logger.warning("%d alerts could not be told by %s: %s", len(batch.rows), batch.channel, trouble)
    for row in rows:
        if row.tries >= MOST_TRIES:
            logger.error("the alert of %s by %s is given up: %s", row.alert, batch.channel, trouble)
            row.state, row.ended_at = AlertSent.State.GIVEN_UP, now
        row.due_at, row.running_until, row.trouble = now + wait(row.tries), None, trouble[:300]
        row.save()
    return "left"


def wait(tries: int) -> timedelta:
    """How long until the next try."""
    seconds = min(LONGEST, FIRST * 2.0 ** min(tries - 1, 20))
    return timedelta(seconds=seconds * random.uniform(0.5, 1.0))  # noqa: S311 (spreads, guards nothing)
