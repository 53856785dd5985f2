"""Refused late writes: what came under a claim that had been lost, newest first, as its reader may see it. A
`fenced` report is testimony: kept beside its step, and settling nothing (docs/protocol.md, section 6).
"""

from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_

from django.db.models import Q, QuerySet

from runs.ledger import clock
from runs.models import Receipt, Step, snapshot
from runs.permissions import Actor, visible

from .cursor import cut, page
from .said import Word, words_of

PAGE = 50
#: By what the filter calls it: the receipts' kind and status. Each is one walk along its own index.
SOURCES = {
    "fenced": (("report", "fenced"),),
    "claim_lost": (("report", "claim_lost"), ("release", "claim_lost")),
}


@dataclass(frozen=True)
class Wanted:
    """Empty does not narrow. `what`: a key of SOURCES."""

    what: str = ""
    queue: str = ""
    customer: str = ""
    job: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def narrow(self, receipts: QuerySet[Receipt]) -> QuerySet[Receipt]:
        given = {
            "job__queue": self.queue,
            "job__owner": self.customer,
            "job__job_id": self.job,
            "at__gte": self.since,
            "at__lt": self.until,
        }
        return receipts.filter(**{column: value for column, value in given.items() if value})

    @property
    def sources(self) -> list[tuple[str, str]]:
        """None where a filter holds what nothing can be called."""
        if "\0" in self.queue + self.customer + self.job or self.what not in ("", *SOURCES):
            return []
        return [pair for name, pairs in SOURCES.items() if self.what in ("", name) for pair in pairs]


@dataclass(frozen=True)
class Row:
    """`step`: as it stands now; None where the write named none that there is."""

    receipt: Receipt
    word: Word
    step: Step | None


@snapshot()
def page_of(actor: Actor, wanted: Wanted, cursor: str | None) -> tuple[list[Row], str | None]:
    """A page and the cursor after it. Raises Invalid for a foreign cursor."""
    now = clock()
    found: list[Receipt] = []
    for kind, status in wanted.sources:
        of_kind = Receipt.objects.filter(tenant_id=actor.tenant_id, kind=kind, status=status)
        seen = visible(wanted.narrow(of_kind), actor, now, prefix="job__")
        found += page(seen.select_related("job"), cursor, PAGE + 1, by="at")[0]
    found.sort(key=lambda receipt: (receipt.at, receipt.pk), reverse=True)
    shown, after = cut(found, PAGE, "at")
    steps = _steps(shown)
    return [
        Row(receipt, word, steps.get((receipt.job_id, receipt.ordinal)))
        for receipt, word in zip(shown, words_of(shown), strict=True)
    ], after


def _steps(receipts: list[Receipt]) -> dict[tuple[int | None, int | None], Step]:
    named = {(receipt.job_id, receipt.ordinal) for receipt in receipts if receipt.ordinal is not None}
    if not named:
        return {}
    steps = Step.objects.filter(reduce(or_, (Q(job=job, ordinal=n) for job, n in named)))
    return {(step.job_id, step.ordinal): step for step in steps}
