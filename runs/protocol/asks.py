"""What each command asks: the body of its call, with every bound. `kind` is the command's name in receipts.

`content()` is what an event id binds and a receipt shows: defaults filled in, a spec by its digest, a claim
by its fence (PROTOCOL section 3).
"""

from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

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

GRACE_SECONDS = 90
LEASE_SECONDS = 90


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
