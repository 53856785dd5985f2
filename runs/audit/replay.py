"""Receipts to state: what a job must be by now, if its receipts are true (I9). Pure.

`begin` takes the first receipt, `follow` each later one, and compares what the receipt's own `detail` and
`ordinal` tell with what it did: a forged detail shows as well as a forged row.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from .canonical import digest
from .effects import EFFECTS
from .effects.people import keep_cancel
from .findings import Finding, UnreadableError
from .receipts import Read
from .state import Job, Step

BEGINNINGS = {("submit", "admitted"): True, ("cancel", "tombstoned"): False}
#: What a detail may tell of a change; the rest of it is who might, and what was answered.
TOLD = (
    *("control", "result", "fence", "too_late", "paused", "step", "disputed", "marked", "no_mark"),
    *("proposal", "proposed_by", "outcome", "proposal_state"),
)
SPEC = {"queue": str, "owner": str, "dispatch": str, "steps": list}
STEP = {"label": str, "tool": str, "target": str, "params": dict}


def begin(r: Read) -> Job:
    """The job as its first receipt made it. Raises UnreadableError where it is no beginning."""
    kind = (r.receipt.kind, r.receipt.status)
    if kind not in BEGINNINGS:
        raise UnreadableError("the first receipt", "submit admitted or cancel tombstoned", " ".join(kind))
    spec = r.asked("spec", dict)
    _check_shape(r, "body.spec", spec, {**SPEC, "parent": (str, type(None))})
    if not spec["steps"]:
        raise UnreadableError(f"body.spec.steps of {r.receipt}", "one step or more", [])
    for ordinal, step in enumerate(spec["steps"]):
        _check_shape(r, f"body.spec.steps.{ordinal}", step, STEP)
    steps = [Step() for _ in spec["steps"]]
    job = Job(spec, r.asked("spec_digest", str), BEGINNINGS[kind], r.at, steps)
    if job.spec_digest != (true := digest(spec)):
        job.findings.append(Finding("spec", f"spec_digest of {r.receipt}", true, job.spec_digest))
    if not job.admitted:
        keep_cancel(job, r)
        job.control, job.accepted_cancels = "acknowledged", 1
    return job


def _check_shape(r: Read, where: str, value: object, shape: Mapping[str, Any]) -> None:
    if not isinstance(value, dict) or set(value) != set(shape):
        raise UnreadableError(f"{where} of {r.receipt}", f"an object of {', '.join(shape)}", value)
    for name, kind in shape.items():
        if not isinstance(value[name], kind):
            raise UnreadableError(f"{where}.{name} of {r.receipt}", f"a value of type {kind}", value[name])


def follow(job: Job, r: Read) -> Iterator[Finding]:
    """Applies the next receipt. Raises UnreadableError where it can't be."""
    job.told, job.new_fence = {}, None
    where_it_is = job.position
    effect = EFFECTS.get((r.receipt.kind, r.receipt.status))
    if effect is None:
        raise UnreadableError(f"{r.receipt}", "a decision that PROTOCOL knows", r.receipt.status)
    effect(job, r)
    yield from _told_rightly(job, r)
    yield from _ordinal(job, r, where_it_is)


def _told_rightly(job: Job, r: Read) -> Iterator[Finding]:
    for name in TOLD:
        told = r.detail.get(name)
        if told != job.told.get(name) and not (name == "result" and told == job.result):
            yield Finding("I9", f"detail.{name} of {r.receipt}", job.told.get(name), told)
    answer = r.detail.get("answer")
    if isinstance(answer, dict) and answer.get("result", job.result) != job.result:
        yield Finding("I9", f"detail.answer.result of {r.receipt}", job.result, answer["result"])


def _ordinal(job: Job, r: Read, position: int) -> Iterator[Finding]:
    """A receipt names the step that was asked about; where none was, the cursor's or the proposal's."""
    expected = r.body.get("ordinal")
    if r.receipt.kind in ("reserve", "lapse"):
        expected = position
    elif r.receipt.kind in ("approve", "decline", "expire"):
        entered = job.proposals.get(r.asked("proposal", str))
        expected = entered.ordinal if entered else None
    if r.receipt.ordinal != expected:
        yield Finding("I9", f"ordinal of {r.receipt}", expected, r.receipt.ordinal)
