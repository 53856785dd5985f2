"""The replayed job beside its rows: I9, and what of I7 and I8 needs both. Pure.

Left out, as I9 says: when the lease ends, what was heard, counters of blocked tries. `has_children` is asked
where children are (ledger.py).
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from .canonical import canonical, digest
from .chain import Chain
from .findings import Finding
from .keyed import differ
from .state import SETTLED, Job, Step


def differences(job: Job, chain: Chain, row: Any, steps: Sequence[Any]) -> Iterator[Finding]:
    yield from _spec(job, row, steps)
    yield from differ("I9", "", _job(job, chain), row)
    accepted = job.accepted_cancels
    if (row.control != "run") != (accepted == 1):
        expected = "none" if row.control == "run" else "exactly one"
        yield Finding("I7", f"accepted cancels in the ledger, with control {row.control}", expected, accepted)
    for step, found in zip(job.steps, steps, strict=False):
        yield from _settling(step, found)
        yield from differ("I9", f"of step {found.ordinal}", _step(step), found)
        yield from _closed(step, found)


def _spec(job: Job, row: Any, steps: Sequence[Any]) -> Iterator[Finding]:
    """The immutable part: as the first receipt holds it whole, and as its digest says."""
    spec = job.spec
    expected = {
        "spec_digest": job.spec_digest,
        "queue": spec["queue"],
        "owner": spec["owner"],
        "dispatch": spec["dispatch"],
        "parent_ref": spec["parent"] or "",
        "title": spec["steps"][0]["label"],
        "n_steps": len(spec["steps"]),
    }
    yield from differ("spec", "", expected, row)
    if row.spec_digest != (true := digest(stored_spec(row, steps))):
        yield Finding("spec", "digest of the spec in the rows", row.spec_digest, true)
    ordinals = [step.ordinal for step in steps]
    if ordinals != list(range(len(job.steps))):
        yield Finding("spec", "ordinals of the stored steps", list(range(len(job.steps))), ordinals)
    for step, asked in zip(steps, spec["steps"], strict=False):
        texts = {**asked, "params": canonical(asked["params"])}
        yield from differ("spec", f"of step {step.ordinal}", texts, step)


def stored_spec(row: Any, steps: Sequence[Any]) -> dict[str, Any]:
    return {
        "queue": row.queue,
        "owner": row.owner,
        "dispatch": row.dispatch,
        "parent": row.parent_ref or None,
        "steps": [
            {"label": step.label, "tool": step.tool, "target": step.target, "params": _read(step.params)}
            for step in steps
        ],
    }


def _read(text: str) -> Any:
    """The stored params; what is no JSON stays a text, which no params are: its digest is another."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _job(job: Job, chain: Chain) -> dict[str, Any]:
    cancel, paused = job.cancel, job.paused or (None, None, "")
    return {
        "admitted": job.admitted,
        "control": job.control,
        "result": job.result,
        "paused_at": paused[0],
        "paused_seq": paused[1],
        "paused_cause": paused[2],
        "position": job.position,
        "cur": job.current,
        "unsettled_since": job.unsettled_since,
        "disputed": sum(step.disputed for step in job.steps),
        "no_mark": sum(step.no_mark for step in job.steps),
        "cancel_seq": cancel.seq if cancel else None,
        "cancel_cause": cancel.cause if cancel else "",
        "cancel_note": cancel.note if cancel else "",
        "cancel_asked_by": cancel.asked_by if cancel else "",
        "cancel_by": cancel.by if cancel else "",
        "cancel_at": cancel.at if cancel else None,
        "grace_until": cancel.grace_until if cancel else None,
        "escalated_seq": job.escalated_seq,
        "too_late": job.too_late,
        "fence": job.fence,
        "holder": job.holder,
        "lease_seconds": job.lease_seconds,
        "seq": chain.seq,
        "head_digest": chain.head,
        "created_at": job.created_at,
        "updated_at": chain.at,
    }


def _step(step: Step) -> dict[str, Any]:
    by_type, by, seq = step.settled[-1] if step.settled else ("", "", None)
    same = (
        *("state", "value", "reserved_by", "reserved_at", "attempt", "dispatched_at", "dispatch_attempt"),
        *("said_unknown", "put_back", "disputed", "no_mark", "version"),
    )
    return {
        **{name: getattr(step, name) for name in same},
        "testimony": len(step.testimony),
        "settled_type": by_type,
        "settled_by": by,
        "settled_seq": seq,
    }


def _settling(step: Step, found: Any) -> Iterator[Finding]:
    """I8: exactly one receipt settled it, with the value that it shows."""
    if found.state in SETTLED:
        if len(step.settled) != 1:
            numbers = [seq for *_, seq in step.settled]
            yield Finding("I8", f"settling receipts of step {found.ordinal}", "exactly one", numbers)
        elif (step.state, step.value) != (found.state, found.value):
            told, there = [step.state, step.value], [found.state, found.value]
            yield Finding("I8", f"outcome and value of step {found.ordinal}", told, there)


def _closed(step: Step, found: Any) -> Iterator[Finding]:
    """`closed_seq` is where testimony that counts begins: 0, or the receipt that closed a dispute."""
    still = [seq for seq in step.fenced if seq > found.closed_seq]
    if found.closed_seq not in (0, *step.closed) or len(still) != len(step.testimony):
        expected = step.closed[-1] if step.closed else 0
        yield Finding("I9", f"closed_seq of step {found.ordinal}", expected, found.closed_seq)
