"""What a job's receipts add up to, and the few ways in which a receipt may change it. Pure.

Written from PROTOCOL sections 1, 5 and 6, not from the code that decides: where the two disagree, the audit
is there to say so. Each change is told as the receipt's `detail` must tell it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .findings import Finding, UnreadableError
from .receipts import Read

UNSETTLED = ("inflight", "unknown")
SETTLED = ("ok", "rejected")


@dataclass
class Step:
    state: str = "pending"
    value: str | None = None
    reserved_by: int | None = None
    reserved_at: datetime | None = None
    attempt: str | None = None
    dispatched_at: datetime | None = None
    dispatch_attempt: str | None = None
    said_unknown: bool = False
    put_back: bool = False
    disputed: bool = False
    no_mark: bool = False
    #: Outcome and value of each fenced report since a dispute was last closed; the numbers of all of them.
    testimony: list[tuple[str, str]] = field(default_factory=list)
    fenced: list[int] = field(default_factory=list)
    closed: list[int] = field(default_factory=list)
    #: Actor type, name and number of each receipt that settled it: one, if all is well.
    settled: list[tuple[str, str, int]] = field(default_factory=list)
    version: int = 0


@dataclass
class Cancel:
    seq: int
    cause: str
    note: str
    asked_by: str
    by: str
    at: datetime
    grace_until: datetime


@dataclass
class Proposal:
    proposal_id: str
    seq: int
    ordinal: int
    outcome: str
    value: str
    evidence: Mapping[str, Any]
    version: int
    by: str
    at: datetime
    expires_at: datetime
    state: str = "open"
    decided_by: str | None = None
    decided_at: datetime | None = None


@dataclass
class Fence:
    """Who got a fence (nobody by a revoke), when, and why the one before it ended."""

    fence: int
    worker: str
    by: str | None
    cause: str
    at: datetime


@dataclass
class Job:
    spec: Mapping[str, Any]
    spec_digest: str
    admitted: bool
    created_at: datetime
    steps: list[Step]
    control: str = "run"
    result: str = "open"
    paused: tuple[datetime, int, str] | None = None
    cancel: Cancel | None = None
    accepted_cancels: int = 0
    too_late: bool = False
    escalated_seq: int | None = None
    unsettled_since: datetime | None = None
    fence: int = 0
    holder: str = ""
    lease_seconds: int = 0
    proposals: dict[str, Proposal] = field(default_factory=dict)
    new_fence: Fence | None = None  #: by the last receipt
    told: dict[str, Any] = field(default_factory=dict)  #: what the last receipt's detail must tell
    findings: list[Finding] = field(default_factory=list)

    @property
    def marked(self) -> bool:
        return bool(self.spec["dispatch"] == "marked")

    @property
    def position(self) -> int:
        """The first step that is not ok; their number, when all are."""
        return next((n for n, step in enumerate(self.steps) if step.state != "ok"), len(self.steps))

    @property
    def current(self) -> str:
        return self.steps[self.position].state if self.position < len(self.steps) else "ok"

    @property
    def unsettled(self) -> int | None:
        return next((n for n, step in enumerate(self.steps) if step.state in UNSETTLED), None)

    def step(self, r: Read, ordinal: int) -> Step:
        if not 0 <= ordinal < len(self.steps):
            raise UnreadableError(f"ordinal of {r.receipt}", f"0 to {len(self.steps) - 1}", ordinal)
        return self.steps[ordinal]

    def must(self, r: Read, rule: str, what: str, expected: Any, found: Any) -> None:
        """The receipt may only stand where this is so."""
        if expected != found:
            self.findings.append(Finding(rule, f"{what} before {r.receipt}", expected, found))

    def take_findings(self) -> list[Finding]:
        taken, self.findings = self.findings, []
        return taken

    def turn(self, name: str, value: Any) -> None:
        setattr(self, name, value)
        self.told[name] = value

    def move(self, r: Read, ordinal: int, to: str, value: str | None = None) -> None:
        """A step's state; and what follows from it for the job: since when it waits, its result (I3, I4)."""
        step = self.steps[ordinal]
        if step.state == to:
            return
        self.told["step"] = {"ordinal": ordinal, "from": step.state, "to": to}
        if value is not None:
            self.told["step"]["value"] = value
        step.state, step.value, step.version = to, value, r.seq
        if to not in UNSETTLED:
            self.unsettled_since = None
        elif self.unsettled_since is None:
            self.unsettled_since = r.at

    def put_back(self, r: Read, ordinal: int, by_lapse: bool = False) -> None:
        """It was not sent and never will be under its reservation, of which nothing stays."""
        self.move(r, ordinal, "pending")
        step = self.steps[ordinal]
        step.reserved_by = step.reserved_at = step.attempt = step.dispatched_at = step.dispatch_attempt = None
        step.said_unknown, step.put_back = False, by_lapse or step.put_back

    def leave_behind(self, r: Read) -> None:
        """Section 5, second row: the claim under which a step is out ends."""
        for ordinal, step in enumerate(self.steps):
            if step.state == "inflight":
                if self.marked and step.dispatched_at is None:
                    self.put_back(r, ordinal)
                else:
                    self.move(r, ordinal, "unknown")

    def settle(self, r: Read, ordinal: int, outcome: str, value: str) -> None:
        step = self.step(r, ordinal)
        self.must(r, "I8", f"settling receipts of step {ordinal}", [], [seq for *_, seq in step.settled])
        self.must(r, "I2", f"steps before step {ordinal} that are not ok", ordinal, self.position)
        self.move(r, ordinal, outcome, value)
        step.settled.append((r.receipt.actor_type, r.actor, r.seq))
        if outcome == "ok" and self.marked and step.dispatched_at is None:
            step.no_mark = self.told["no_mark"] = True
        if any(contradict(outcome, value, *said) for said in step.testimony):
            self.dispute(r, ordinal)
        if outcome == "rejected":
            self.turn("result", "failed")
        elif all(step.state == "ok" for step in self.steps):
            self.turn("result", "succeeded")

    def dispute(self, r: Read, ordinal: int, disputed: bool = True) -> None:
        step = self.step(r, ordinal)
        if step.disputed != disputed:
            step.disputed, step.version = disputed, r.seq
            self.told["disputed"] = {"ordinal": ordinal, "is": disputed}


def contradict(outcome: str, value: str, said: str, said_value: str) -> bool:
    """Section 6: opposite outcomes, or one outcome with two values; `unknown` contradicts nothing."""
    if "unknown" in (outcome, said):
        return False
    return outcome != said or ("" not in (value, said_value) and value != said_value)
