"""How a run ended. Not how a step or a job did: that is the server's to say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from runs.worker.causes import Cause


class How(StrEnum):
    #: Every step is settled; `result` says succeeded or failed (None where another settled the last one).
    FINISHED = "finished"
    #: A cancel was accepted; nothing more will start. `cause` says why.
    CANCELLED = "cancelled"
    #: The claim is no longer ours. `cause` says why.
    LOST = "lost"
    #: Step `ordinal` may or may not have happened; somebody with evidence has to settle it.
    UNKNOWN = "unknown"
    #: The next step is disputed; somebody has to close the dispute first.
    DISPUTED = "disputed"
    #: This worker stopped by itself before it sent anything more: `cause` names its shutdown or time limit,
    #: `error` what the step's function raised. The step is pending again, the job goes on with the next run.
    STOPPED = "stopped"
    #: Another worker holds the claim and keeps it alive.
    HELD = "held"
    #: There was nothing left to do when the claim was asked for.
    CLOSED = "closed"
    #: The job was cancelled before it was submitted.
    NOT_ADMITTED = "not_admitted"


@dataclass(frozen=True, slots=True)
class Ended:
    """`error` is what the step's function raised, where that ended the run."""

    how: How
    cause: Cause | None = None
    result: str | None = None
    ordinal: int | None = None
    error: Exception | None = None
