"""What each command asks: the body of its call, with every bound. `kind` is the command's name in receipts.

`content()` is what an event id binds and a receipt shows: defaults filled in, a spec by its digest, a claim
by its fence (PROTOCOL section 3).
"""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from .canonical import digest
from .evidence import Evidence, Outcome, Verified
from .fields import (
    Attempt,
    Digest,
    Generation,
    Id,
    Integer,
    JobId,
    Line128,
    Line200,
    Note,
    Ordinal,
    Shape,
    misfit,
)
from .spec import Spec
from .states import Control, Result

GRACE_SECONDS = 90
LEASE_SECONDS = 90
MOST_NAMED = 5_000  #: jobs that one operation names


class Ask(Shape):
    """A command, before it meets a job."""

    kind: ClassVar[str]
    #: Fields with a name of their own in the receipt, so no part of its `body`.
    NOT_CONTENT: ClassVar[set[str]] = {"event_id", "job_id", "spec", "claim"}

    def content(self, fence: int = 0) -> dict[str, Any]:
        shown = self.model_dump(exclude=self.NOT_CONTENT)
        if "claim" in type(self).model_fields:
            shown["claim"] = fence
        return shown


class Event(Ask):
    """A command with an event id of its caller's choice."""

    event_id: Id


class Submit(Ask):
    kind = "submit"
    job_id: JobId
    spec: Spec

    def content(self, fence: int = 0) -> dict[str, Any]:
        return {"spec_digest": self.spec.digest}


class Cancel(Event):
    kind = "cancel"
    spec: Spec | None = None
    spec_digest: Digest | None = None
    cause: Id = "canceled_no_cause"
    note: Note = ""
    asked_by: Line200 = ""
    grace_seconds: Annotated[int, Field(ge=0, le=604_800)] = GRACE_SECONDS
    cascade: bool = False

    @model_validator(mode="after")
    def _names_one_spec(self) -> Self:
        if self.spec is None and self.spec_digest is None:
            raise misfit("spec", "is required, or spec_digest: which job do you mean?")
        if self.spec and self.spec_digest and self.spec.digest != self.spec_digest:
            raise misfit("spec_digest", f"is not the digest of spec, which is {self.spec.digest}")
        return self

    @property
    def digest(self) -> str:
        return self.spec.digest if self.spec else self.spec_digest or ""

    def content(self, fence: int = 0) -> dict[str, Any]:
        return {**super().content(), "spec_digest": self.digest}


class Claim(Ask):
    kind = "claim"
    worker: Id
    ttl_seconds: Annotated[int, Field(ge=5, le=3600)] = LEASE_SECONDS


class Heartbeat(Ask):
    kind = "heartbeat"
    claim: Line128
    heard: Integer | None = None


class Reserve(Ask):
    kind = "reserve"
    claim: Line128
    attempt: Attempt | None = None


class Dispatch(Ask):
    kind = "dispatch"
    claim: Line128
    ordinal: Ordinal
    attempt: Attempt | None = None


class Report(Event):
    kind = "report"
    claim: Line128
    ordinal: Ordinal
    outcome: Outcome
    value: Note = ""
    evidence: Evidence | None = None

    @model_validator(mode="after")
    def _fits_its_outcome(self) -> Self:
        if self.outcome == "unknown" and self.value:
            raise misfit("value", "must be empty with the outcome unknown: there is no result to show")
        if self.outcome == "rejected" and self.evidence is None:
            raise misfit("evidence", "is required with the outcome rejected")
        return self

    @property
    def evidence_kind(self) -> str:
        """A report `ok` without evidence is taken as the worker's own word."""
        return self.evidence.kind if self.evidence else "worker_reported"


class Release(Event):
    kind = "release"
    claim: Line128
    ordinal: Ordinal


class Checkpoint(Ask):
    kind = "checkpoint"


class Revoke(Event):
    kind = "revoke"
    cause: Id = "other"
    note: Note = ""


class Pause(Event):
    kind = "pause"
    cause: Id = "other"
    note: Note = ""


class Resume(Event):
    kind = "resume"
    cause: Id = "other"
    note: Note = ""


class Observe(Event):
    kind = "observe"
    ordinal: Ordinal
    note: Note = ""
    evidence: Evidence


class Reconcile(Event):
    kind = "reconcile"
    ordinal: Ordinal
    outcome: Verified
    value: Note = ""
    evidence: Evidence

    @property
    def evidence_kind(self) -> str:
        return self.evidence.kind


class Approve(Event):
    kind = "approve"
    proposal: Line128
    note: Note = ""


class Decline(Event):
    kind = "decline"
    proposal: Line128
    note: Note = ""


class CloseDispute(Event):
    kind = "close_dispute"
    ordinal: Ordinal
    note: Note = ""


class Seal(Event):
    kind = "seal"
    generation: Generation


class Filter(Shape):
    """Which jobs an operation is for; each condition given narrows it."""

    queue: Id | None = None
    control: Control | None = Field(None, strict=False)
    result: Result | None = Field(None, strict=False)
    unsettled: bool | None = None
    disputed: bool | None = None
    headline: Line128 | None = None
    owner: Line200 | None = None
    q: Line128 | None = None


class Operate(Event):
    """The same for many jobs, each judged and answered by itself."""

    kind = "operate"
    command: Literal["cancel"]
    job_ids: Annotated[list[JobId], Field(min_length=1, max_length=MOST_NAMED)] | None = None
    filter: Filter | None = None
    cause: Id = "canceled_no_cause"
    note: Note = ""
    title: Line200 = ""

    @model_validator(mode="after")
    def _says_which_jobs(self) -> Self:
        if (self.job_ids is None) is (self.filter is None):
            raise misfit("job_ids", "is required, or filter, and not both")
        if self.job_ids is not None and len(set(self.job_ids)) < len(self.job_ids):
            raise misfit("job_ids", "names a job twice")
        if self.filter is not None and not self.conditions:
            raise misfit("filter", "needs at least one condition: it would reach every job")
        return self

    @property
    def conditions(self) -> dict[str, Any]:
        """The filter's conditions that were given, JSON-ready."""
        return self.filter.model_dump(mode="json", exclude_none=True) if self.filter else {}

    def content(self, fence: int = 0) -> dict[str, Any]:
        """Named jobs by the digest of their list, like a spec."""
        shown = super().content()
        named = shown.pop("job_ids")
        return {**shown, "filter": self.conditions or None, "job_ids_digest": named and digest(named)}


class AbortBody(Event):
    kind = "abort"
    note: Note = ""


class Abort(AbortBody):
    """Ask no further job of an operation; the path says which one."""

    operation: Id


class Lapse(Ask):
    """The clock's: a lease has ended."""

    kind = "lapse"


class Escalate(Ask):
    """The clock's: the grace of a cancel has ended."""

    kind = "escalate"


class Expire(Ask):
    """The clock's: a proposal is a day old."""

    kind = "expire"
    proposal: str


class Restored(Ask):
    """An operator's: the database is a backup, and what was committed after `at` is lost."""

    kind = "restored"
    at: str
