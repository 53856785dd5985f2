"""That a signal was put on its way to the holder of the claim: no receipt, as when it was heard."""

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from runs import live
from runs.models import Job


def offered(tenant_id: int, job_id: str, seq: int, by: str, at: datetime) -> None:
    """The signal whose receipt is `seq` went out `by` socket or heartbeat. The first time counts."""
    new = Q(offered_seq__isnull=True) | Q(offered_seq__lt=seq)
    job = Job.objects.filter(new, tenant_id=tenant_id, job_id=job_id, seq__gte=seq)
    with transaction.atomic():
        if job.update(offered_seq=seq, offered_at=at, offered_by=by):
            row = Job.objects.only("seq").get(tenant_id=tenant_id, job_id=job_id)
            live.announce(live.Nudge(tenant_id, row.pk, job_id, row.seq, beside=True))
