"""What HTTP.md shows, laid beside what the model says: each function returns the differences as sentences.

Times, actors and texts are not compared; shapes are only where the model has an opinion.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from .asks import canonical, generation, sha256
from .commands import Command
from .state import Answer
from .world import World

KEYS = "seq event_id job_id kind status actor ordinal body detail at prev_digest digest"
RECEIPT_KEYS = set(KEYS.split())


def signal(told: Any) -> Any:
    """A signal as the model gives it: causes by code, no times."""
    if told is None:
        return None
    kept = {"level": told["level"], "seq": told["seq"], "cause": told["cause"]["code"]}
    original = told.get("original_cause")
    return kept | ({"original_cause": original["code"]} if original else {})


def since_when(told: Any) -> bool:
    return told is not None and told is not False


#: How a field is read before it is compared; all others are compared as they are.
READ: dict[str, Callable[[Any], Any]] = {
    "signal": signal,
    "cause": lambda told: told["code"],
    "paused": since_when,
    "dispatched": since_when,
}


def answer(expected: Answer, http: int, told: Any) -> list[str]:
    """Status, HTTP code, replayed and the extra fields. Tokens, proposals and receipts are the driver's."""
    if expected.http != http:
        return [f"HTTP {http}, expected {expected.http} {expected.status}"]
    if expected.status is None:
        return []
    if http == 403:
        return unlike("code", told.get("code"), expected.status)
    found = unlike("status", told.get("status"), expected.status)
    found += unlike("replayed", told.get("replayed"), expected.replayed)
    for name, value in expected.fields.items():
        if name in ("claim", "proposal"):
            continue
        read = READ.get(name, lambda raw: raw)
        found += unlike(name, read(told[name]) if name in told else "missing", value)
    return found


def unlike(name: str, told: Any, expected: Any) -> list[str]:
    return [] if told == expected else [f"{name} is {told!r}, expected {expected!r}"]


SAME: tuple[str, ...] = (
    "admitted",
    "control",
    "result",
    "headline",
    "disputed",
    "unsettled",
    "children_unfinished",
)
SAME += ("blocked_submits", "seq")


def job(told: dict[str, Any]) -> dict[str, Any]:
    """The job of HTTP.md, cut down to what the model shows."""
    claim = told["claim"]
    return {name: told[name] for name in SAME} | {
        "paused": told["paused_at"] is not None,
        "claim": claim and {name: claim[name] for name in ("worker", "fence", "live")},
        "steps": [step(each) for each in told["steps"]],
    }


def step(told: dict[str, Any]) -> dict[str, Any]:
    settled_by = told["settled_by"]
    testimony = ("seq", "worker", "fence", "outcome", "value")
    return {name: told[name] for name in ("ordinal", "state", "value", "disputed")} | {
        "dispatched": told["dispatched_at"] is not None,
        "settled_by": settled_by and settled_by["seq"],
        "testimony": [{name: said[name] for name in testimony} for said in told["testimony"]],
    }


def jobs_differ(told: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    seen = job(told)
    return [line for name in expected for line in unlike(name, seen[name], expected[name])]


def read_differs(world: World, job_id: str, http: int, told: Any) -> list[str]:
    """GET of a job, known or not."""
    if job_id not in world.jobs:
        return unlike("HTTP", http, 410 if generation(job_id) <= world.sealed else 404)
    return unlike("HTTP", http, 200) or jobs_differ(told, world.job(job_id))


def receipt_differs(world: World, command: Command, expected: Answer, receipt: Any) -> list[str]:
    """The receipt in an answer, beside those that the model holds after the command."""
    job = world.jobs.get(command.job_id or "")
    event_id = command.fields.get("event_id")
    rows = [each for each in world.receipts(job.job_id) if each[1] == command.kind] if job else []
    if expected.replayed:  # reserved or dispatched again
        return [] if receipt is None or row(receipt) in rows else [f"receipt is {receipt!r}"]
    if not expected.receipt_kept:
        return unlike("receipt", receipt, None)
    if receipt is None or receipt == "missing":
        return ["no receipt"]
    if receipt["seq"] is None and (job is None or all(each[3] != event_id for each in rows)):
        alone = unlike("prev_digest", receipt["prev_digest"], "")
        told = (receipt["kind"], receipt["status"], receipt["event_id"])
        return alone + unlike("receipt", told, (command.kind, expected.status, event_id))
    own = [each for each in rows if each[3] == event_id]
    return unlike("receipt", row(receipt), own[-1] if own else "none with a job")


def row(receipt: dict[str, Any]) -> tuple[Any, ...]:
    """A receipt as `World.receipts` shows it."""
    return tuple(receipt[name] for name in ("seq", "kind", "status", "event_id", "ordinal"))


def chain(receipts: Iterable[dict[str, Any]]) -> list[str]:
    """I10 from the JSON alone: exact keys, no gap, each digest right and covering the one before."""
    found: list[str] = []
    before = "0" * 64
    for number, receipt in enumerate(receipts, start=1):
        found += unlike("keys of a receipt", set(receipt), RECEIPT_KEYS)
        found += unlike("seq", receipt["seq"], number)
        found += unlike(f"prev_digest of {number}", receipt["prev_digest"], before)
        body = {name: value for name, value in receipt.items() if name != "digest"}
        found += unlike(f"digest of {number}", receipt["digest"], sha256(canonical(body)))
        before = receipt["digest"]
    return found


def token_differs(token: Any, fence: int) -> list[str]:
    return (
        [] if re.fullmatch(rf"{fence}-[0-9a-f]{{32}}", str(token)) else [f"claim {token!r} for fence {fence}"]
    )
