"""Which evidence settles what (PROTOCOL section 6)."""

from typing import Literal

from .fields import Link, Note, Shape

Outcome = Literal["unknown", "ok", "rejected"]
Verified = Literal["ok", "rejected"]
Kind = Literal[
    "receiver_confirmed",
    "worker_reported",
    "receiver_refused",
    "receiver_sealed",
    "worker_refused",
    "not_found",
    "timed_out",
    "ambiguous",
    "other",
]

SETTLES: dict[str, frozenset[str]] = {
    "ok": frozenset({"receiver_confirmed", "worker_reported"}),
    "rejected": frozenset({"receiver_refused", "receiver_sealed", "worker_refused"}),
}


class Evidence(Shape):
    """What somebody saw: its kind, in words, and where it can be seen."""

    kind: Kind
    text: Note
    link: Link | None = None


def counts(kind: str, outcome: str, by_reserving_claim: bool) -> bool:
    """Whether evidence of this kind settles this outcome; a worker's own word counts only from the claim that
    reserved the step."""
    return kind in SETTLES[outcome] and (by_reserving_claim or not kind.startswith("worker_"))
