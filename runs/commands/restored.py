"""After a backup was restored (docs/protocol.md, section 11): jobs that may go on are put in doubt, once."""

from collections import Counter
from datetime import datetime

from django.db.models import Exists, OuterRef

from runs.ledger import as_text
from runs.models import Job, Receipt
from runs.permissions import Actor
from runs.protocol.asks import Restored
from runs.protocol.canonical import canonical

from .spine import do


def restored(at: datetime) -> Counter[str]:
    """Put in doubt what was committed after `at`. Killed and asked again, it goes on where it was.

    Returns how many jobs gave which answer. Raises Busy.
    """
    ask = Restored(at=as_text(at))
    done = Receipt.objects.filter(job=OuterRef("pk"), kind=ask.kind, body=canonical(ask.content()))
    may_go_on = Job.objects.filter(admitted=True, result="open").exclude(control="acknowledged")
    left = list(may_go_on.exclude(Exists(done)).order_by("id").values_list("pk", flat=True))
    counted: Counter[str] = Counter()
    for pk in left:
        job = Job.objects.select_related("tenant").get(pk=pk)
        counted[do(Actor.system(job.tenant), job.job_id, ask).status] += 1
    return counted
