"""Between the database's rows and the protocol's values: the one load() and the one save()."""

import json
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest
from typing import Any

from runs.models import Claim, Receipt, plain
from runs.models import Job as JobRow
from runs.models import Step as StepRow
from runs.protocol.states import UNSETTLED, Cancel, Control, Job, Result, State, Step, Testimony, Token

#: Columns that hold a job's fact under the fact's own name.
SAME = (
    *("paused_at", "paused_seq", "paused_cause", "position", "fence", "holder", "lease_seconds"),
    *(
        "lease_expires_at",
        "too_late",
        "escalated_seq",
        "heard_seq",
        "heard_at",
        "blocked_submits",
        "blocked_at",
    ),
)
STEP_SAME = (
    *("reserved_by", "attempt", "dispatched_at", "dispatch_attempt", "said_unknown", "put_back"),
    *("disputed", "no_mark", "value", "version"),
)
CANCEL = ["seq", "cause", "note", "asked_by", "by", "at"]


def load(row: JobRow, *ordinals: int | None) -> tuple[Job, dict[int, StepRow]]:
    """The job as the protocol sees it, with the step at its cursor and those at `ordinals` (where there
    are such)."""
    wanted = {row.position, *(o for o in ordinals if o is not None)} & set(range(row.n_steps))
    step_rows = {step.ordinal: step for step in _steps(row, wanted)}
    said = _testimony(row, [step for step in step_rows.values() if step.testimony])
    steps = {ordinal: _step(step, said.get(ordinal, ())) for ordinal, step in step_rows.items()}
    children = unfinished_children(row) if row.has_children else 0
    return replace(load_alone(row), steps=steps, children_unfinished=children), step_rows


def load_alone(row: JobRow) -> Job:
    """The job as its own row says it: no step, no children, no query."""
    cancel = None
    if row.cancel_seq is not None:
        asked = {name: getattr(row, f"cancel_{name}") for name in CANCEL}
        assert row.grace_until is not None  # stored with the cancel
        cancel = Cancel(**asked, grace_until=row.grace_until)
    return Job(
        n_steps=row.n_steps,
        marked=row.dispatch == "marked",
        digest=row.spec_digest,
        admitted=row.admitted,
        control=Control(row.control),
        result=Result(row.result),
        current=State(row.cur),
        cancel=cancel,
        seq=row.seq,
        **{name: getattr(row, name) for name in SAME},
    )


def token(row: JobRow, given: str) -> Token:
    """Which fence of this job the given claim is the token of; anything else was never issued."""
    number, _, secret = given.partition("-")
    if not (secret and number.isascii() and number.isdigit() and len(number) < 19):
        return Token()
    fence = int(number)
    given_hash = sha256(given.encode()).hexdigest()
    if fence == row.fence and row.claim_hash and compare_digest(row.claim_hash, given_hash):
        return Token(fence, newest=True, lost_by="work_claim_lost")
    two = plain.rows(Claim, "job_id = %s AND fence IN (%s, %s)", row.pk, fence, fence + 1)
    claims = {claim.fence: claim for claim in two}
    held = claims.get(fence)
    if held is None or not held.token_hash or not compare_digest(held.token_hash, given_hash):
        return Token()
    ended = claims.get(fence + 1)
    return Token(fence, newest=fence == row.fence, lost_by=ended.cause if ended else "work_claim_lost")


def _steps(row: JobRow, wanted: set[int]) -> list[StepRow]:
    if not wanted:
        return []
    marks = ", ".join(["%s"] * len(wanted))
    return plain.rows(StepRow, f"job_id = %s AND ordinal IN ({marks}) ORDER BY ordinal", row.pk, *wanted)


def _step(row: StepRow, testimony: tuple[Testimony, ...]) -> Step:
    content = {"label": row.label, "tool": row.tool, "target": row.target, "params": json.loads(row.params)}
    return Step(content=content, testimony=testimony, **{name: getattr(row, name) for name in STEP_SAME})


def _testimony(job: JobRow, steps: list[StepRow]) -> dict[int, tuple[Testimony, ...]]:
    """By ordinal: the fenced reports on these steps since the last dispute of each was closed."""
    if not steps:
        return {}
    closed = {step.ordinal: step.closed_seq for step in steps}
    fenced = Receipt.objects.filter(job=job, kind="report", status="fenced", ordinal__in=closed)
    found: dict[int, tuple[Testimony, ...]] = {}
    for ordinal, seq, body in fenced.order_by("seq").values_list("ordinal", "seq", "body"):
        if (
            ordinal is not None and seq is not None and seq > closed[ordinal]
        ):  # a job's receipt on a step has both
            said = json.loads(body)
            found[ordinal] = (*found.get(ordinal, ()), Testimony(said["outcome"], said["value"]))
    return found


def unfinished_children(row: JobRow) -> int:
    """How many direct children are unfinished: open without a confirmed stop, or with such a one below
    (section 9)."""
    found = 0
    for child in JobRow.objects.filter(parent=row).only("id", "result", "control", "has_children"):
        if (child.result == "open" and child.control != "acknowledged") or (
            child.has_children and unfinished_children(child)
        ):
            found += 1
    return found


def save(row: JobRow, steps: dict[int, StepRow], job: Job, now: datetime, actor: dict[str, str]) -> None:
    """Bring the rows to `job`. The receipt that says so is already appended: its number is `row.seq`."""
    for name in SAME:
        setattr(row, name, getattr(job, name))
    row.control, row.result, row.cur = str(job.control), str(job.result), str(job.current)
    if job.current not in UNSETTLED:
        row.unsettled_since = None
    elif row.unsettled_since is None:
        row.unsettled_since = now
    if job.cancel:
        for name in CANCEL:
            setattr(row, f"cancel_{name}", getattr(job.cancel, name))
        row.grace_until = job.cancel.grace_until
    for ordinal, step in steps.items():
        _save_step(row, step, job, job.steps[ordinal], now, actor)
    plain.update(row)


def _save_step(
    job_row: JobRow, row: StepRow, job: Job, step: Step, now: datetime, actor: dict[str, str]
) -> None:
    state = job.state(row.ordinal)
    job_row.disputed += int(step.disputed) - int(row.disputed)
    job_row.no_mark += int(step.no_mark) - int(row.no_mark)
    if row.testimony and not step.testimony:
        row.closed_seq = job.seq
    if step.reserved_by is None:
        row.reserved_at = None
    elif row.state == State.PENDING:
        row.reserved_at = now
    if state in (State.OK, State.REJECTED) and row.settled_seq is None:
        row.settled_type, row.settled_by, row.settled_seq = actor["type"], actor["name"], job.seq
    row.state, row.testimony = str(state), len(step.testimony)
    for name in STEP_SAME:
        setattr(row, name, getattr(step, name))
    plain.update(row)


def create(
    tenant_id: int, job_id: str, generation: int, spec: Any, parent: JobRow | None, now: datetime
) -> JobRow:
    """A new row for an admitted job or a tombstone; its steps follow by `create_steps` once it has an id."""
    return JobRow(
        tenant_id=tenant_id,
        job_id=job_id,
        queue=spec.queue,
        owner=spec.owner,
        dispatch=spec.dispatch,
        parent_ref=spec.parent or "",
        parent=parent,
        depth=parent.depth + 1 if parent else 0,
        generation=generation,
        spec_digest=spec.digest,
        title=spec.steps[0].label,
        n_steps=len(spec.steps),
        created_at=now,
        updated_at=now,
    )
