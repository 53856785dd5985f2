"""A job while its story is told in memory: the protocol's job, its receipts, what its rows hold besides; and
the others to which just the same happened, at other times.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from runs.permissions import Actor
from runs.protocol.evidence import Evidence
from runs.protocol.spec import Spec
from runs.protocol.states import UNSETTLED, Control, Job, Proposal, Result, State, World


class Kept(NamedTuple):
    """A receipt before it is chained: as it is shown, but for what is its own job's alone (receipts.py)."""

    shown: dict[str, Any]
    body: str
    detail: str
    at: datetime


@dataclass
class Member:
    """A job that is stored: the one that was told, or one like it, so much earlier."""

    job_id: str
    back: timedelta = timedelta(0)
    suffix: str = ""  #: of its event ids
    pk: int = 0  #: of its row, once it is stored
    receipts: list[dict[str, Any]] = field(default_factory=list)  #: chained


class Fence(NamedTuple):
    """A row of claims."""

    fence: int
    worker: str
    token_hash: str
    user_id: int | None
    cause: str
    at: datetime


@dataclass
class Entered:
    """A proposal as it was entered, as it is `now`, and who decided it."""

    now: Proposal
    evidence: Evidence
    seq: int
    by_id: int | None
    at: datetime
    decided_by_id: int | None = None
    decided_at: datetime | None = None


@dataclass
class Told:
    job_id: str
    generation: int
    members: list[Member] = field(default_factory=list)
    job: Job | None = None
    spec: Spec | None = None
    parent: "Told | None" = None
    children: list["Told"] = field(default_factory=list)
    depth: int = 0
    receipts: list[Kept] = field(default_factory=list)
    fences: list[Fence] = field(default_factory=list)
    proposals: dict[str, Entered] = field(default_factory=dict)
    heartbeat_at: datetime | None = None
    unsettled_since: datetime | None = None
    #: By ordinal: since when it is reserved; who settled it (type, name, number); which receipt closed it.
    reserved_at: dict[int, datetime] = field(default_factory=dict)
    settled: dict[int, tuple[str, str, int]] = field(default_factory=dict)
    closed: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.members.append(Member(self.job_id))

    def again(self, job_id: str, back: timedelta) -> None:
        """Another job to which just the same happened, so much earlier."""
        self.members.append(Member(job_id, back, f".{len(self.members)}"))

    @property
    def stands_alone(self) -> bool:
        """No other job, and no id made of its own, is named in what is kept of it."""
        return not self.children and self.parent is None and not self.proposals

    @property
    def is_open(self) -> bool:
        """It may get children."""
        job = self.job
        return job is not None and job.admitted and job.control is Control.RUN and job.result is Result.OPEN

    @property
    def unfinished(self) -> bool:
        assert self.job is not None
        own = self.job.result is Result.OPEN and self.job.control is not Control.ACKNOWLEDGED
        return own or any(child.unfinished for child in self.children)

    @property
    def open_proposal(self) -> Entered | None:
        return next((entered for entered in self.proposals.values() if entered.now.state == "open"), None)

    @property
    def claim_hash(self) -> str:
        return self.fences[-1].token_hash if self.fences else ""

    def begin(self, spec: Spec, parent: "Told | None") -> None:
        self.spec, self.parent = spec, parent
        if parent is not None:
            self.depth = parent.depth + 1
            parent.children.append(self)

    def follow(self, kept: Kept, before: Job | None, actor: Actor) -> None:
        """After each receipt: the times and names that the protocol's own job does not hold."""
        job, at = self.job, kept.at
        assert job is not None
        self.receipts.append(kept)
        if job.current not in UNSETTLED:
            self.unsettled_since = None
        elif self.unsettled_since is None:
            self.unsettled_since = at
        for ordinal, step in job.steps.items():
            if step.reserved_by is None:
                self.reserved_at.pop(ordinal, None)
            elif before and before.state(ordinal) is State.PENDING:
                self.reserved_at[ordinal] = at
            if job.state(ordinal) in (State.OK, State.REJECTED) and ordinal not in self.settled:
                self.settled[ordinal] = (str(actor.type), actor.name, job.seq)
            if before and before.steps[ordinal].testimony and not step.testimony:
                self.closed[ordinal] = job.seq

    def propose(self, after: World, ask: Any, name: str, life: timedelta, actor: Actor) -> None:
        version, expires_at = after.at.steps[ask.ordinal].version, after.now + life
        now = Proposal(name, ask.ordinal, ask.outcome, ask.value, version, "open", expires_at, by=actor.name)
        self.proposals[name] = Entered(now, ask.evidence, after.at.seq, actor.user_id, after.now)

    def decide(self, now: Proposal, actor: Actor, at: datetime) -> None:
        entered = self.proposals[now.id]
        entered.now, entered.decided_by_id, entered.decided_at = now, actor.user_id, at
