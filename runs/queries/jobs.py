"""Jobs that their reader may see: one, and a page of them, newest first."""

from datetime import datetime
from itertools import accumulate
from typing import Annotated, Any, Literal

from django.db.models import Q
from pydantic import BaseModel, Field

from runs.errors import Gone, NotVisible
from runs.ledger import clock
from runs.models import Job, Tenant, snapshot
from runs.permissions import Action, Actor, rights_of, visible
from runs.protocol.fields import Id, Line128, Line200, generation_of
from runs.protocol.states import Control, Result

from .cursor import cut, page
from .headlines import HEADLINES
from .shape import shapes

#: Steps in one page at most (but always one whole job): a page may be shorter than its limit.
MAX_STEPS = 4096


class JobFilter(BaseModel):
    """Which jobs, and which page of them. What is not given does not narrow the list."""

    queue: Id | None = None
    control: Literal[tuple(map(str, Control))] | None = None  # type: ignore[valid-type]
    result: Literal[tuple(map(str, Result))] | None = None  # type: ignore[valid-type]
    unsettled: bool | None = Field(None, description="A step is inflight or unknown.")
    disputed: bool | None = Field(None, description="A step is disputed, or was settled ok without its mark.")
    headline: Literal[tuple(HEADLINES)] | None = None  # type: ignore[valid-type]
    owner: Line200 | None = None
    q: Line128 | None = Field(
        None, description="The beginning of a job id, an owner or the first step's label."
    )
    cursor: str | None = Field(None, description="`next_cursor` of the page before.")
    limit: Annotated[int, Field(ge=1, le=200)] = 50

    @property
    def condition(self) -> Q:
        given = {"queue": self.queue, "control": self.control, "result": self.result, "owner": self.owner}
        found = Q(**{column: value for column, value in given.items() if value is not None})
        if self.unsettled is not None:
            found &= Q(unsettled_since__isnull=not self.unsettled)
        if self.disputed is not None:
            disputed = Q(disputed__gt=0) | Q(no_mark__gt=0)
            found &= disputed if self.disputed else ~disputed
        if self.headline is not None:
            found &= HEADLINES[self.headline]
        if self.q is not None:
            found &= (
                Q(job_id__istartswith=self.q) | Q(owner__istartswith=self.q) | Q(title__istartswith=self.q)
            )
        return found


def find(actor: Actor, job_id: str, now: datetime) -> Job:
    """The job's row. Raises NotVisible alike where there is none and where the actor may not see it at `now`.

    Where the id's generation is sealed it is Gone instead, to those who may see any job at all.
    """
    named = Job.objects.filter(tenant_id=actor.tenant_id, job_id=job_id).select_related("tenant")
    if job := visible(named, actor, now).first():
        return job
    sealed = Tenant.objects.values_list("sealed_generation", flat=True).get(id=actor.tenant_id)
    if generation_of(job_id) <= sealed and rights_of(actor, now).anywhere(Action.VIEW, now):
        raise Gone(
            "The generation of this id is sealed: it never was a job that you may see, and never will be."
        )
    raise NotVisible


@snapshot()
def one(actor: Actor, job_id: str) -> dict[str, Any]:
    """The job as docs/http.md shows it. Raises as `find`."""
    now = clock()
    return shapes([find(actor, job_id, now)], now)[0]


@snapshot()
def listed(actor: Actor, wanted: JobFilter) -> dict[str, Any]:
    """`{"jobs": […], "next_cursor"}`, newest first. Raises Invalid for a cursor that is none of ours."""
    now = clock()
    jobs = visible(Job.objects.filter(wanted.condition, tenant_id=actor.tenant_id), actor, now)
    found, after = page(jobs.select_related("tenant"), wanted.cursor, wanted.limit)
    fit = max(1, sum(steps <= MAX_STEPS for steps in accumulate(job.n_steps for job in found)))
    if fit < len(found):
        found, after = cut(found, fit)
    return {"jobs": shapes(found, now), "next_cursor": after}


@snapshot()
def these(actor: Actor, job_ids: list[str]) -> list[dict[str, Any]]:
    """The named jobs that the actor may see, as docs/http.md shows them, in no order."""
    now = clock()
    named = Job.objects.filter(tenant_id=actor.tenant_id, job_id__in=job_ids).select_related("tenant")
    return shapes(list(visible(named, actor, now)), now)
