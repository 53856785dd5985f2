"""What the model remembers: frozen records and the questions asked of them (PROTOCOL.md §1).

Not the product's states: written from the page alone, so that the two can disagree. A claim's secret is
left out; a claim is named by its fence, and 0 stands for a token never issued for the job (§2, §3).
Times are numbers of seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

UNSETTLED = ("inflight", "unknown")
SETTLED = ("ok", "rejected")


@dataclass(frozen=True)
class Queue:
    """A queue of the tenant. `reconcile_needs`: "1", "2" or "2 for did-not-happen"."""

    id_prefix: str | None = None
    reconcile_needs: str = "1"


@dataclass(frozen=True)
class Spec:
    """What the model needs of a spec; `size` is the number of its steps."""

    digest: str
    queue: str
    dispatch: str
    parent: str | None
    size: int


@dataclass(frozen=True)
class Testimony:
    """A fenced report kept beside a step. `counts` until a dispute is closed over it (§4 close_dispute)."""

    seq: int
    worker: str
    fence: int
    outcome: str
    value: str
    counts: bool = True

    def contradicts(self, outcome: str, value: str) -> bool:
        return self.counts and contradict(self.outcome, self.value, outcome, value)


def contradict(said: str, said_value: str, outcome: str, value: str) -> bool:
    """Whether two words about one effect contradict each other (§6); `unknown` contradicts nothing."""
    if said == "unknown":
        return False
    return said != outcome or (said_value != "" and value != "" and said_value != value)


@dataclass(frozen=True)
class Step:
    state: str = "pending"
    value: str | None = None
    fence: int | None = None  # of the claim that reserved it
    attempt: str | None = None  # under which it was reserved, and marked
    dispatched: bool = False
    disputed: bool = False
    testimony: tuple[Testimony, ...] = ()
    by_lapse: bool = False  # a lapse put it back to pending
    said_unknown: bool = False  # by the claim that reserved it
    version: int = 0  # seq of the last receipt that changed state, testimony or dispute
    settled_by: int | None = None

    def back_to_pending(self, by_lapse: bool = False) -> Step:
        return replace(self, state="pending", fence=None, attempt=None, by_lapse=by_lapse, said_unknown=False)


@dataclass(frozen=True)
class Claim:
    worker: str
    fence: int
    ttl: float
    until: float

    def live(self, now: float) -> bool:
        return now < self.until


@dataclass(frozen=True)
class Cancel:
    """The accepted cancel: its receipt, cause, end of grace, and the receipt that escalated it."""

    seq: int
    cause: str
    grace_until: float
    escalated: int | None = None


@dataclass(frozen=True)
class Proposal:
    number: int
    ordinal: int
    outcome: str
    value: str
    version: int
    by: str
    at: float
    decided: bool = False
    expire_told: bool = False

    def expired(self, now: float) -> bool:
        return now >= self.at + 24 * 3600


@dataclass(frozen=True)
class Receipt:
    """A receipt as far as the model cares; `fence` is the claim's that asked, `job_fence` the job's then."""

    seq: int | None
    kind: str
    status: str
    event_id: str | None
    ordinal: int | None
    http: int
    fence: int | None = None
    job_fence: int = 0
    value: str | None = None


@dataclass(frozen=True)
class Job:
    job_id: str
    spec: Spec
    admitted: bool
    steps: tuple[Step, ...]
    control: str = "run"
    result: str = "open"
    paused: tuple[int, str] | None = None  # seq and cause of the pause
    cancel: Cancel | None = None
    too_late: bool = False
    claim: Claim | None = None
    fence: int = 0
    issued: tuple[tuple[int, str], ...] = ()  # fence and worker of every token ever issued
    ended: tuple[tuple[int, str], ...] = ()  # fence and cause of every claim that was lost
    proposals: tuple[Proposal, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    blocked: int = 0

    @property
    def seq(self) -> int:
        return len(self.receipts)

    @property
    def marked(self) -> bool:
        return self.spec.dispatch == "marked"

    def step(self, ordinal: int | None) -> Step | None:
        return self.steps[ordinal] if ordinal is not None and 0 <= ordinal < len(self.steps) else None

    def unsettled(self) -> int | None:
        return next((n for n, step in enumerate(self.steps) if step.state in UNSETTLED), None)

    def first_pending(self) -> int | None:
        return next((n for n, step in enumerate(self.steps) if step.state == "pending"), None)

    def is_newest(self, fence: int) -> bool:
        return self.claim is not None and self.claim.fence == fence

    def was_issued(self, fence: int) -> bool:
        return any(fence == known for known, _ in self.issued)

    def worker_of(self, fence: int) -> str:
        return next(worker for known, worker in self.issued if known == fence)

    def with_step(self, ordinal: int, step: Step) -> Job:
        return replace(self, steps=(*self.steps[:ordinal], step, *self.steps[ordinal + 1 :]))


@dataclass(frozen=True)
class Answer:
    """What a command answers. `status` is None for an answer that is not the protocol's (403, 404, 422)."""

    http: int
    status: str | None
    replayed: bool = False
    fields: dict[str, Any] = field(default_factory=dict, hash=False)
    receipt_kept: bool = False


@dataclass(frozen=True)
class Verdict:
    """What a table decides: the answer, the job as it is afterwards (None: untouched), a receipt or not."""

    status: str | None
    http: int = 200
    job: Job | None = None
    kept: bool = False
    fields: dict[str, Any] = field(default_factory=dict)
    ordinal: int | None = None
    replayed: bool = False
    value: str | None = None
