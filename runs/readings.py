"""Keeps who read evidence and who exported it (docs/permissions.md). Not who may: that was asked before."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from runs import ledger
from runs.models import Reading
from runs.whence import ADDRESS

#: One person's reading of one job is kept once in this time: a page that is looked at again is no news.
AGAIN = timedelta(hours=1)


def of_evidence(tenant_id: int, user_id: int | None, job_id: str, receipts: Iterable[dict[str, Any]]) -> None:
    """Keep that these receipts were read, where they hold evidence. Never inside a snapshot: it writes."""
    if user_id is None or not any(receipt["body"].get("evidence") for receipt in receipts):
        return
    now = ledger.clock()
    mine = Reading.objects.filter(user_id=user_id, job_ref=job_id, kind="evidence", at__gt=now - AGAIN)
    if not mine.exists():
        Reading.objects.create(
            tenant_id=tenant_id,
            user_id=user_id,
            kind="evidence",
            job_ref=job_id,
            address=ADDRESS.get(),
            at=now,
        )


def of_export(tenant_id: int, user_id: int, narrowed: str, job_id: str = "") -> None:
    Reading.objects.create(
        tenant_id=tenant_id,
        user_id=user_id,
        kind="export",
        job_ref=job_id,
        filter=narrowed,
        address=ADDRESS.get(),
        at=ledger.clock(),
    )


def of_certificate(tenant_id: int, user_id: int | None, job_id: str) -> None:
    """A certificate was taken away, and with it all the evidence of its job."""
    if user_id is not None:
        of_export(tenant_id, user_id, "certificate", job_id)
