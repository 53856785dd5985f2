"""Moving ended jobs of sealed generations out of the database (docs/protocol.md, section 11).

Three stages, each of which may be killed and run again: the file is written (`write`), its digest and the
jobs in it are committed with a receipt (`commit`), the jobs go (`remove`). Nothing goes that is not on the
disk, and a job that got another receipt meanwhile stays. A late submit of what has gone is `sealed` for ever.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from runs import archives, ledger
from runs.certificates import unsigned
from runs.errors import FieldError, Invalid, NotVisible
from runs.ledger import shown
from runs.models import (
    Alert,
    AlertSent,
    Archive,
    ArchivedJob,
    Check,
    Claim,
    Delivery,
    Job,
    Proposal,
    Receipt,
    Step,
    Tenant,
    snapshot,
)
from runs.permissions import WHOLE, Action, Actor, error_of, lock_shared, rights_of
from runs.queries.shape import shapes

AT_ONCE = 200  #: jobs read, or removed, at a time


def ended(tenant: Tenant, sealed_generation: int) -> QuerySet[Job]:
    """Tombstones and ended jobs of sealed generations, children before their parents. Not those that wait for
    somebody (a dispute, a proposal), nor those with a child that stays."""
    over = Q(admitted=False) | Q(control="acknowledged") | ~Q(result="open")
    jobs = Job.objects.filter(tenant=tenant, generation__lte=sealed_generation)
    ready = jobs.filter(over, disputed=0).exclude(
        Exists(Proposal.objects.filter(job=OuterRef("pk"), state="open"))
    )
    stays = Job.objects.filter(parent=OuterRef("pk")).exclude(
        over, generation__lte=sealed_generation, disputed=0
    )
    return ready.exclude(Exists(stays)).order_by("-depth", "id")


def write(file: Path, tenant: Tenant, sealed_generation: int) -> Iterator[int]:
    """Write the file, or go on with it. Yields how many jobs are in it, after each step.

    Raises Invalid where FILE.part is another tenant's, or no archive.
    """
    with archives.Writer(file, tenant.name, sealed_generation, ledger.clock()) as out:
        jobs = ended(tenant, out.sealed_generation)
        after = Job.objects.filter(tenant=tenant, job_id=out.last_job).first()
        if out.last_job and after is None:
            raise Invalid(FieldError("file", f"goes on from {out.last_job}, which another archive removed"))
        while page := list(_after(jobs, after)[:AT_ONCE]):
            after = page[-1]
            for line in _lines(page):
                out.line(line)
            yield out.sum.jobs
        out.end(ledger.clock())


def _after(jobs: QuerySet[Job], last: Job | None) -> QuerySet[Job]:
    if last is None:
        return jobs
    return jobs.filter(Q(depth__lt=last.depth) | Q(depth=last.depth, id__gt=last.pk))


@snapshot()
def _lines(page: list[Job]) -> list[dict[str, Any]]:
    """Each with all its receipts, as they are at one moment."""
    now = ledger.clock()
    jobs = list(Job.objects.filter(pk__in=[job.pk for job in page]).select_related("tenant"))
    jobs.sort(key=lambda job: [each.pk for each in page].index(job.pk))
    kept: dict[int | None, list[dict[str, Any]]] = {}
    for receipt in Receipt.objects.filter(job__in=jobs).order_by("job", "seq"):
        kept.setdefault(receipt.job_id, []).append(shown(receipt))
    made = zip(jobs, shapes(jobs, now), strict=True)
    return [unsigned(shape, kept[job.pk], max(now, job.updated_at)) for job, shape in made]


def commit(actor: Actor, told: archives.Told) -> Archive:
    """The file's digest into the ledger, and the names of its jobs where the delete trigger finds them.

    The same file again is the same row. Raises NotVisible where it is another tenant's, NotAllowed.
    """
    if told.first["tenant"] != actor.tenant_name:
        raise NotVisible
    facts = {name: told.last[name] for name in ("jobs", "receipts", "digest")}
    facts["sealed_generation"] = told.first["sealed_generation"]
    with transaction.atomic(durable=True):
        lock_shared(actor.tenant_id)
        now = ledger.clock()
        verdict = rights_of(actor, now).judge(Action.SEAL, WHOLE, now=now)
        if not verdict.allowed:
            raise error_of(verdict)
        if known := Archive.objects.filter(tenant_id=actor.tenant_id, digest=facts["digest"]).first():
            return known
        archive = Archive.objects.create(tenant_id=actor.tenant_id, at=now, **facts)
        rows = (
            ArchivedJob(archive=archive, tenant_id=actor.tenant_id, job_ref=job, seq=seq, head_digest=head)
            for job, (seq, head) in told.heads.items()
        )
        while batch := list(islice(rows, 2000)):
            ArchivedJob.objects.bulk_create(batch)
        ledger.append(
            actor.tenant_id,
            None,
            None,
            seq=None,
            event_id=None,
            kind="archive",
            status="archived",
            actor={"type": str(actor.type), "name": actor.name},
            ordinal=None,
            body=facts,
            detail={"action": Action.SEAL, "grant": verdict.grant, "token": actor.token_id},
            at=now,
        )
        return archive


def remove(archive: Archive) -> Iterator[int]:
    """Remove the archive's jobs, a few in each transaction. Yields how many went."""
    after = 0
    while batch := list(archive.list.filter(pk__gt=after).order_by("pk")[:AT_ONCE]):
        after = batch[-1].pk
        with transaction.atomic(durable=True):
            lock_shared(archive.tenant_id)
            yield _removed(archive, batch)


def _removed(archive: Archive, batch: list[ArchivedJob]) -> int:
    """Those that are as the file has them, under their locks."""
    heads = {listed.job_ref: (listed.seq, listed.head_digest) for listed in batch}
    rows = Job.objects.select_for_update().filter(tenant=archive.tenant_id, job_id__in=heads)
    same = [job for job in rows.order_by("job_id") if (job.seq, job.head_digest) == heads[job.job_id]]
    children = list(Job.objects.filter(parent__in=same).values_list("parent_id", "pk"))
    gone = {job.pk for job in same}
    # A child that stays keeps its parents, up to the top of this batch.
    while kept := {parent for parent, child in children if parent in gone and child not in gone}:
        gone -= kept
    receipts = Receipt.objects.filter(job__in=gone)
    events = receipts.filter(event_id__isnull=False).values_list("event_id", flat=True)
    _delete(Delivery.objects.filter(tenant=archive.tenant_id, event_id__in=list(events)))
    _delete(AlertSent.objects.filter(alert__job__in=gone))
    for rows_of in (receipts, Step.objects, Claim.objects, Proposal.objects, Check.objects, Alert.objects):
        _delete(rows_of.filter(job__in=gone))
    _delete(Job.objects.filter(pk__in=gone))
    return len(gone)


def _delete(rows: QuerySet[Any]) -> None:
    """As SQL: Django's own would read every row first, to follow what points to it."""
    rows._raw_delete(rows.db)
