"""What a certificate is made of: a job and all its receipts at one moment, for whom may export it."""

from typing import Any

from runs import certificates
from runs.ledger import clock, shown
from runs.models import Receipt, snapshot
from runs.permissions import Action, Actor, Target, error_of, rights_of

from .jobs import find
from .shape import shapes


@snapshot()
def certificate(actor: Actor, job_id: str) -> dict[str, Any]:
    """The job's certificate (runs.certificates). Raises as `jobs.find`, and NotAllowed without `export`."""
    now = clock()
    row = find(actor, job_id, now)
    verdict = rights_of(actor, now).judge(Action.EXPORT, Target.of(row), now=now)
    if not verdict.allowed:
        refusal = error_of(verdict)
        refusal.action = Action.EXPORT
        raise refusal
    now = max(now, row.updated_at)  # the clock may have stepped back
    receipts = [shown(receipt) for receipt in Receipt.objects.filter(job=row).order_by("seq")]
    return certificates.issued(shapes([row], now)[0], receipts, now)
