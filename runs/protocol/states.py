"""The values of PROTOCOL section 1 and what a decision looks at: a job, at most a few of its steps, and the
facts around them. All frozen: an effect returns a new world. No clock, database, user or HTTP in here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any


class Control(StrEnum):
    RUN = "run"  #: nobody has asked for a stop
    REQUESTED = "requested"  #: a cancel was accepted: nothing new starts here
    ACKNOWLEDGED = "acknowledged"  #: and nothing is out any more


class Result(StrEnum):
    OPEN = "open"  #: not every step has an outcome
    SUCCEEDED = "succeeded"  #: every step happened; final
    FAILED = "failed"  #: a step did not happen; final


class State(StrEnum):
    PENDING = "pending"  #: nothing was handed out
    INFLIGHT = "inflight"  #: handed to its tool, no answer yet
    UNKNOWN = "unknown"  #: it may or may not have happened
    OK = "ok"  #: it happened; final
    REJECTED = "rejected"  #: it did not happen; final


UNSETTLED = (State.INFLIGHT, State.UNKNOWN)


class ActorType(StrEnum):
    PERSON = "person"
    SERVICE = "service"
    SYSTEM = "system"
    VERIFIER = "verifier"


@dataclass(frozen=True)
class Testimony:
    """A fenced report that still counts in a dispute."""

    outcome: str
    value: str


@dataclass(frozen=True)
class Step:
    """What is known of one step beside its state, which follows from the job's cursor."""

    content: Mapping[str, Any] = field(default_factory=dict)  #: label, tool, target, params
    reserved_by: int | None = None
    attempt: str | None = None
    dispatched_at: datetime | None = None
    dispatch_attempt: str | None = None
    said_unknown: bool = False
    put_back: bool = False  #: by a lapse, so that its claim's late word is testimony
    disputed: bool = False
    no_mark: bool = False
    value: str | None = None
    testimony: tuple[Testimony, ...] = ()
    version: int = 0

    @property
    def marked(self) -> bool:
        return self.dispatched_at is not None


@dataclass(frozen=True)
class Cancel:
    """The cancel that was accepted, or the first that came too late."""

    seq: int
    cause: str
    note: str
    asked_by: str
    by: str
    at: datetime
    grace_until: datetime


@dataclass(frozen=True)
class Job:
    """The cursor. `steps` holds the steps that this decision may look at, by ordinal, not all of them."""

    n_steps: int
    marked: bool  #: its steps are marked right before they are sent
    digest: str = ""
    admitted: bool = True
    control: Control = Control.RUN
    result: Result = Result.OPEN
    paused_at: datetime | None = None
    paused_seq: int | None = None
    paused_cause: str = ""
    position: int = 0
    current: State = State.PENDING
    steps: Mapping[int, Step] = field(default_factory=dict)
    fence: int = 0
    holder: str = ""
    lease_seconds: int = 0
    lease_expires_at: datetime | None = None
    cancel: Cancel | None = None
    too_late: bool = False
    escalated_seq: int | None = None
    heard_seq: int | None = None
    heard_at: datetime | None = None
    children_unfinished: int = 0
    blocked_submits: int = 0
    blocked_at: datetime | None = None
    seq: int = 0

    def state(self, ordinal: int) -> State:
        """The state of any step, by I1 and I2."""
        if ordinal == self.position:
            return self.current
        return State.OK if ordinal < self.position else State.PENDING

    @property
    def unsettled(self) -> int | None:
        return self.position if self.current in UNSETTLED else None

    @property
    def now_at(self) -> Step:
        """The step at the cursor."""
        return self.steps[self.position]

    def lease_is_live(self, now: datetime) -> bool:
        return bool(self.holder) and self.lease_expires_at is not None and now < self.lease_expires_at

    def with_step(self, ordinal: int, **facts: Any) -> "Job":
        return replace(self, steps={**self.steps, ordinal: replace(self.steps[ordinal], **facts)})


@dataclass(frozen=True)
class Token:
    """What the `claim` in a worker command is: its fence (0: never issued for this job), and whether it is
    the newest.

    `lost_by` is the cause by which a stale one was ended.
    """

    fence: int = 0
    newest: bool = False
    lost_by: str = "work_claim_lost"


@dataclass(frozen=True)
class Parent:
    """The parent named in a spec, as it is under its lock."""

    visible: bool = True  #: there is one, and the caller may submit to it
    open: bool = True  #: admitted, control = run, result = open
    depth: int = 0


@dataclass(frozen=True)
class Proposal:
    """An entered outcome that waits, or waited, for a second person."""

    id: str
    ordinal: int
    outcome: str
    value: str
    version: int
    state: str
    expires_at: datetime
    own: bool = False  #: entered by the one who asks now
    by: str = ""

    def is_open(self, job: Job, now: datetime) -> bool:
        """Nobody decided it, its 24 hours run, and the step is as it was when it was entered."""
        return (
            self.state == "open" and now < self.expires_at and job.steps[self.ordinal].version == self.version
        )


@dataclass(frozen=True)
class World:
    """All that one decision may look at."""

    now: datetime
    job: Job | None = None
    sealed_generation: int = -1
    generation: int = 0
    wrong_queue: bool = False  #: the id's prefix and the spec's queue do not belong together
    parent: Parent | None = None
    token: Token = Token()
    reconcile_needs: str = "1"
    proposal: Proposal | None = None  #: the open one of the asked step, or the one named
    actor_type: ActorType = ActorType.SERVICE
    actor: str = ""
    cascaded: int = 0  #: to how many unfinished descendants a cancel is passed on

    @property
    def at(self) -> Job:
        """The job, where a table's earlier rows have made sure that there is one."""
        assert self.job is not None
        return self.job

    def becomes(self, **facts: Any) -> "World":
        return replace(self, job=replace(self.at, **facts))

    def step_becomes(self, ordinal: int, **facts: Any) -> "World":
        return replace(self, job=self.at.with_step(ordinal, **facts))
