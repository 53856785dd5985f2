"""The disputed list (docs/protocol.md, section 6): jobs about whose steps reports differ, and those with a
step settled ok without its mark; newest change first, as their reader may see them. With what stands and
what else was said.
"""

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from runs.ledger import clock
from runs.models import Job, Receipt, Step, snapshot
from runs.permissions import Actor, visible

from .cursor import page
from .said import Word, words_of

PAGE = 50
MOST = 5  #: words on one step in the list; the job's page has them all
SAID = ("fenced", "already_settled")


@dataclass(frozen=True)
class Wanted:
    """Empty does not narrow. `why`: "differ" or "no_mark"."""

    queue: str = ""
    customer: str = ""
    why: str = ""

    def narrow(self, jobs: QuerySet[Job]) -> QuerySet[Job]:
        if "\0" in self.queue + self.customer or self.why not in ("", "differ", "no_mark"):
            return jobs.none()
        given = {"queue": self.queue, "owner": self.customer}
        jobs = jobs.filter(**{column: value for column, value in given.items() if value})
        whys = {"differ": Q(disputed__gt=0), "no_mark": Q(no_mark__gt=0)}
        return jobs.filter(whys.get(self.why, Q(disputed__gt=0) | Q(no_mark__gt=0)))


@dataclass(frozen=True)
class Doubt:
    """A step, and the newest words that do not count beside what stands; `more`: there are others."""

    step: Step
    words: tuple[Word, ...]
    more: bool


@dataclass(frozen=True)
class Row:
    job: Job
    doubts: tuple[Doubt, ...]


@snapshot()
def page_of(actor: Actor, wanted: Wanted, cursor: str | None) -> tuple[list[Row], str | None]:
    """A page and the cursor after it. Raises Invalid for a foreign cursor."""
    jobs = wanted.narrow(Job.objects.filter(tenant_id=actor.tenant_id))
    found, after = page(visible(jobs, actor, clock()), cursor, PAGE, by="updated_at")
    doubts = _doubts(found)
    return [Row(job, tuple(doubts[job.pk])) for job in found], after


def _doubts(jobs: list[Job]) -> dict[int, list[Doubt]]:
    """By the job's row, in the order of its steps."""
    found: dict[int, list[Doubt]] = defaultdict(list)
    steps = Step.objects.filter(Q(disputed=True) | Q(no_mark=True), job__in=jobs).order_by("job", "ordinal")
    said = _said(jobs) if any(job.disputed for job in jobs) else {}
    for step in steps if jobs else ():
        words = said.get((step.job_id, step.ordinal), [])
        newest = words[-MOST:] if step.disputed else []
        found[step.job_id].append(Doubt(step, tuple(newest), len(words) > MOST))
    return found


def _said(jobs: list[Job]) -> dict[tuple[int | None, int | None], list[Word]]:
    """By job and step, oldest first: the newest words since the last dispute about it was closed."""
    about = Step.objects.filter(job=OuterRef("job"), ordinal=OuterRef("ordinal"), disputed=True)
    closed = Receipt.objects.filter(
        job=OuterRef("job"), ordinal=OuterRef("ordinal"), status="dispute_closed", seq__gt=OuterRef("seq")
    )
    place = Window(RowNumber(), partition_by=[F("job"), F("ordinal")], order_by=F("seq").desc())
    receipts = (
        Receipt.objects.filter(Exists(about), ~Exists(closed), job__in=jobs, status__in=SAID)
        .filter(kind__in=("report", "reconcile"))
        .annotate(place=place)
        .filter(place__lte=MOST + 1)
    )
    found: dict[tuple[int | None, int | None], list[Word]] = defaultdict(list)
    for word in words_of(receipts.order_by("job", "seq")):
        found[word.job, word.ordinal].append(word)
    return found
