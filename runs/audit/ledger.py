"""What spans jobs: children (I5), event ids (I11), receipts without a job, seals, orphans.
Each is one statement whose result is small where all is well.
"""

from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.db.models import Count, Exists, OuterRef

from runs.models import Claim, Job, Proposal, Step, Tenant
from runs.models import Receipt as ReceiptRow

from .cells import readable
from .chain import read
from .findings import Breach, Finding, breach
from .receipts import Receipt
from .rows import CHUNK, RECEIPT, receipt

#: Jobs above an unfinished one (PROTOCOL section 9), themselves confirmed as stopped.
STOPPED_TOO_SOON = """
WITH RECURSIVE above(id) AS (
    SELECT parent_id FROM runs_job
    WHERE parent_id IS NOT NULL AND result = 'open' AND control <> 'acknowledged'
    UNION
    SELECT job.parent_id FROM runs_job job JOIN above ON job.id = above.id WHERE job.parent_id IS NOT NULL
)
SELECT tenant.name, job.job_id FROM above JOIN runs_job job ON job.id = above.id
JOIN runs_tenant tenant ON tenant.id = job.tenant_id WHERE job.control = 'acknowledged' ORDER BY job.id
"""


def children(only: str | None = None) -> Iterator[Breach]:
    with connection.cursor() as cursor:
        cursor.execute(STOPPED_TOO_SOON)
        for tenant, job in cursor.fetchall():
            if only in (None, job):
                yield Breach(tenant, job, "I5", "unfinished children of a confirmed stop", "none", "some")
    denied = Job.objects.filter(has_children=False).filter(Exists(Job.objects.filter(parent=OuterRef("pk"))))
    for tenant, job in denied.order_by("id").values_list("tenant__name", "job_id"):
        if only in (None, job):
            yield Breach(tenant, job, "I5", "has_children", True, False)


def lost(certificate: dict[str, Any]) -> Iterator[Breach]:
    """The first receipt of a sound certificate that the ledger does not hold as it was: there the chain was
    cut off, or made anew. A chain alone can't show that (PROTOCOL section 12)."""
    tenant, job = certificate["job"]["tenant"], certificate["job"]["job_id"]
    rows = ReceiptRow.objects.filter(job__tenant__name=tenant, job__job_id=job).order_by("seq")
    there = dict(rows.values_list("seq", "digest"))
    for kept in certificate["receipts"]:
        if (found := there.get(kept["seq"])) != kept["digest"]:
            where = f"receipt {kept['seq']}, which a certificate holds"
            yield Breach(tenant, job, "I10", where, kept["digest"], found)
            return


def whole(tenant_names: dict[int, str]) -> Iterator[Breach]:
    """Everything that is asked of the ledger as a whole."""
    yield from _event_ids(tenant_names)
    yield from _orphans(tenant_names)
    yield from _without_job(tenant_names)


def _event_ids(names: dict[int, str]) -> Iterator[Breach]:
    used = ReceiptRow.objects.filter(event_id__isnull=False).values("tenant_id", "event_id")
    for row in used.annotate(n=Count("id")).filter(n__gt=1).order_by("tenant_id", "event_id").iterator(CHUNK):
        there = f"receipts with event id {row['event_id']}"
        yield Breach(names.get(row["tenant_id"], "?"), None, "I11", there, "at most one", row["n"])


def _orphans(names: dict[int, str]) -> Iterator[Breach]:
    """Rows of jobs that are not there, jobs of tenants that are not there: neither may be outlived."""
    for pk, job in (
        Job.objects.exclude(tenant__in=Tenant.objects.all()).order_by("id").values_list("id", "job_id")
    ):
        yield Breach("?", str(job), "I9", f"tenant of job {pk}", "one that is there", "none")
    for model in (ReceiptRow, Step, Claim, Proposal):
        named = "job_ref" if model is ReceiptRow else "job_id"
        of_a_job = model._default_manager.filter(job_id__isnull=False)
        lost = of_a_job.exclude(Exists(Job.objects.filter(pk=OuterRef("job_id"))))
        for row in lost.order_by("id").values("id", "tenant_id", named).iterator(CHUNK):
            where = f"job of {model._meta.model_name} {row['id']}"
            yield Breach(names.get(row["tenant_id"], "?"), None, "I9", where, "one that is there", row[named])


def _without_job(names: dict[int, str]) -> Iterator[Breach]:
    """Each stands alone (section 3): its digest, no number, nothing before it. Seals only rise."""
    sealed = dict.fromkeys(names, -1)
    alone = readable(ReceiptRow.objects.filter(job__isnull=True)).order_by("id")
    for row in alone.values_list(*RECEIPT, named=True).iterator(CHUNK):
        kept = receipt(row)
        r, found = read(kept)
        for finding in (*_stands_alone(kept), *found):
            yield breach(names.get(row.tenant_id, "?"), kept.job_id, finding)
        if r is not None and (kept.kind, kept.status) == ("seal", "sealed"):
            was, generation = sealed.get(row.tenant_id, -1), r.body.get("generation")
            if not isinstance(generation, int) or generation <= was:
                finding = Finding("seals", f"generation of {kept}", f"more than {was}", generation)
                yield breach(names.get(row.tenant_id, "?"), None, finding)
            else:
                sealed[row.tenant_id] = generation
    for tenant in readable(Tenant.objects.order_by("id")):
        if tenant.sealed_generation != sealed[tenant.pk]:
            finding = Finding("seals", "sealed_generation", sealed[tenant.pk], tenant.sealed_generation)
            yield breach(tenant.name, None, finding)


def _stands_alone(kept: Receipt) -> Iterator[Finding]:
    if kept.prev_digest != "":
        yield Finding("I10", f"prev_digest of {kept}, which has no job", "", kept.prev_digest)
    if kept.seq is not None:
        yield Finding("I10", f"number of {kept}, which has no job", None, kept.seq)
