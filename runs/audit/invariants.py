"""I1 to I8 and I12 on the rows as they stand, receipts aside. I5's children and I11 span jobs (ledger.py).

Each is one question to the rows. What the receipts say to it is compared elsewhere (compare.py). Pure.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from .findings import Finding
from .state import SETTLED, UNSETTLED


def broken(job: Any, steps: Sequence[Any]) -> Iterator[Finding]:
    states = [step.state for step in steps]
    unsettled = [step.ordinal for step in steps if step.state in UNSETTLED]
    if len(unsettled) > 1:
        yield Finding("I1", "unsettled steps", "at most one", unsettled)
    yield from _in_order(states)
    succeeded = job.admitted and bool(states) and all(state == "ok" for state in states)
    if (job.result == "succeeded") != succeeded:
        yield Finding("I3", "result, by its steps", "succeeded" if succeeded else "not succeeded", job.result)
    failed = "rejected" in states
    if (job.result == "failed") != failed:
        yield Finding("I4", "result, by its steps", "failed" if failed else "not failed", job.result)
    if job.control == "acknowledged" and unsettled:
        yield Finding("I5", "unsettled steps of a confirmed stop", [], unsettled)
    if not job.admitted:
        yield from _tombstone(job, states)
    for step in steps:
        if (step.state in SETTLED) != (step.value is not None and step.settled_seq is not None):
            there = [step.state, step.value, step.settled_seq]
            yield Finding(
                "I8", f"step {step.ordinal}", "a value and a receipt where settled, else none", there
            )
        if step.reserved_by is not None and not 1 <= step.reserved_by <= job.fence:
            yield Finding("I12", f"reserved_by of step {step.ordinal}", f"1 to {job.fence}", step.reserved_by)


def _in_order(states: Sequence[str]) -> Iterator[Finding]:
    first = next((n for n, state in enumerate(states) if state != "ok"), len(states))
    for ordinal, state in enumerate(states):
        if ordinal > first and state != "pending":
            yield Finding(
                "I2", f"state of step {first}, before step {ordinal} ({state})", "ok", states[first]
            )


def _tombstone(job: Any, states: Sequence[str]) -> Iterator[Finding]:
    expected = {"control": "acknowledged", "result": "open", "fence": 0, "holder": ""}
    for name, value in expected.items():
        if getattr(job, name) != value:
            yield Finding("I6", f"{name} of a tombstone", value, getattr(job, name))
    for ordinal, state in enumerate(states):
        if state != "pending":
            yield Finding("I6", f"state of step {ordinal} of a tombstone", "pending", state)
