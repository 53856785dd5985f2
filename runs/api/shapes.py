"""What answers look like, for OpenAPI and the tests that hold answers against it; docs/http.md in types.

Not what builds them: the commands' answers come from runs.commands, the reads from runs.queries.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from runs.protocol.states import ActorType, Control, Result, State
from runs.queries.headlines import HEADLINES

Time = Annotated[
    str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$", examples=["2026-11-29T15:03:02.501733Z"])
]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]
Headline = Annotated[str, Field(json_schema_extra={"enum": list(HEADLINES)})]


class Shape(BaseModel):
    """Anything may be added to it."""

    model_config = ConfigDict(extra="allow")


class FieldError(Shape):
    field: str
    message: str


class Problem(Shape):
    """RFC 9457. `code` is stable."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    errors: list[FieldError]


class Cause(Shape):
    code: str
    short: str
    text: str


class ListedCause(Cause):
    retired: bool


class Actor(Shape):
    type: ActorType
    name: str


class Receipt(BaseModel):
    """Exactly these keys, for ever: its digest covers them."""

    model_config = ConfigDict(extra="forbid")

    seq: Annotated[int, Field(ge=1)] | None
    event_id: str | None
    job_id: str | None
    kind: str
    status: str
    actor: Actor
    ordinal: int | None
    body: dict[str, Any]
    detail: dict[str, Any]
    at: Time
    prev_digest: Digest | Literal[""]
    digest: Digest


class Signal(Shape):
    """Section 7. `original_cause` stands beside an abort."""

    seq: int
    level: Literal["pause", "stop", "abort"]
    cause: Cause
    original_cause: Cause | None = None
    at: Time
    grace_until: Time | None


class StepContent(Shape):
    label: str
    tool: str
    target: str
    params: dict[str, Any]


class SettledBy(Shape):
    actor: Actor
    seq: int


class Testimony(Shape):
    """A fenced report: it settles nothing."""

    seq: int
    worker: str
    fence: int
    outcome: Literal["unknown", "ok", "rejected"]
    value: str
    at: Time


class Step(StepContent):
    ordinal: Count
    state: State
    value: str | None
    dispatched_at: Time | None
    settled_by: SettledBy | None
    disputed: bool
    testimony: list[Testimony]


class CancelOfJob(Shape):
    cause: Cause
    note: str
    asked_by: str
    by: str
    at: Time
    grace_until: Time
    heard_at: Time | None
    too_late: bool


class ClaimOfJob(Shape):
    worker: str
    fence: int
    lease_expires_at: Time
    live: bool


class Job(Shape):
    job_id: str
    tenant: str
    queue: str
    owner: str
    generation: Count
    dispatch: Literal["marked", "unmarked"]
    parent: str | None
    spec_digest: Digest
    admitted: bool
    control: Control
    result: Result
    paused_at: Time | None
    headline: Headline
    disputed: bool
    steps: list[Step]
    unsettled: Count | None
    cancel: CancelOfJob | None
    claim: ClaimOfJob | None
    children_unfinished: Count
    blocked_submits: Count
    seq: Count
    head_digest: Digest
    created_at: Time
    updated_at: Time


class Jobs(Shape):
    jobs: list[Job]
    next_cursor: str | None


class Receipts(Shape):
    receipts: list[Receipt]
    next_after: int | None


class Signature(Shape):
    """Of the canonical JSON of the document without its `signature`; the key and the value in hex."""

    algorithm: Literal["Ed25519"]
    public_key: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    value: Annotated[str, Field(pattern="^[0-9a-f]{128}$")]


class Certificate(Shape):
    """A job with all its receipts, to be kept elsewhere; `manage.py verify` checks it offline."""

    format: Literal["cancelboard certificate 1"]
    job: Job
    receipts: list[Receipt]
    head_digest: Digest
    sentence: str
    issued_at: Time
    signature: Signature | None


class Events(RootModel[str]):
    """Server-sent events, one for each receipt: `id` is its number (`Last-Event-ID` resumes), `data` the
    receipt; an event `end` says why no more may be seen."""


class Causes(Shape):
    causes: list[ListedCause]


class Queue(Shape):
    name: str
    id_prefix: str
    reconcile_needs: Literal["1", "2", "2 for did-not-happen"]


class Queues(Shape):
    queues: list[Queue]


class OperationTaken(Shape):
    operation_id: str
    command: Literal["cancel"]
    title: str
    jobs: Count


class Operation(OperationTaken):
    event_id: str
    cause: str
    note: str
    filter: dict[str, Any] | None
    by: str
    state: Literal["open", "done", "aborted"]
    answered: Count
    answers: dict[str, int]
    created_at: Time
    ended_at: Time | None
    aborted_by: str | None


class ListedJob(Shape):
    """`status`: of its answer, or the code of its refusal; null while it was not asked."""

    n: Count
    job_id: str
    event_id: str
    status: str | None
    at: Time | None


class OperationAndList(Operation):
    list: list[ListedJob]
    next_after: int | None


class Operations(Shape):
    operations: list[Operation]
    next_cursor: str | None


class TokenInUse(Shape):
    prefix: str
    expires_at: Time
    actions: list[str]


class Whoami(Shape):
    name: str
    kind: Literal["person", "service"]
    tenant: str
    token: TokenInUse | None


class Check(Shape):
    n: Count
    check: str
    result: str


class DecidingGrant(Shape):
    id: Count
    says: str
    holder: str


class Can(Shape):
    allowed: bool
    code: str
    reason: str
    change: str
    steps: list[Check]
    who_may: list[str] | None
    others: Count
    grant: DecidingGrant | None


class OutNow(Shape):
    ordinal: Count
    label: str
    tool: str
    target: str
    state: State
    dispatched_at: Time | None


class Worker(Shape):
    name: str
    live: bool
    last_heartbeat: Time | None


class Allowed(Shape):
    allowed: bool
    code: str
    reason: str
    change: str


class Preview(Shape):
    would: str
    out_now: OutNow | None
    held: Count
    children: Count
    worker: Worker | None
    allowed: Allowed
    sentence: str
