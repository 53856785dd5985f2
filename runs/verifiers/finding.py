"""What a verifier is asked, and what it may find. Pure."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from runs.protocol.evidence import SETTLES

LOOKED = frozenset({"not_found", "timed_out", "ambiguous", "other"})  #: kinds that can never settle a step


@dataclass(frozen=True)
class Question:
    """What became of this step? `sent_at`: when it was marked, or in an unmarked job handed out."""

    tenant: str
    job_id: str
    ordinal: int
    key: str
    tool: str
    target: str
    sent_at: datetime | None = None
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """`outcome`: "ok", "rejected", or "" where the receiver did not say; `kind` and `text`: the evidence.

    Finding nothing is no rejection: the effect may still come. `rejected` takes a receiver that refused the
    key, or that will refuse it from now on.
    """

    outcome: str
    kind: str
    text: str
    value: str = ""

    def __post_init__(self) -> None:
        fits = SETTLES[self.outcome] if self.outcome in ("ok", "rejected") else LOOKED
        if self.outcome not in ("", "ok", "rejected") or self.kind not in fits:
            raise ValueError(
                f"{self.kind} is no evidence for {self.outcome or 'a look-up without an answer'}"
            )
        if self.kind.startswith("worker_"):
            raise ValueError(f"{self.kind} is a worker's evidence, not a verifier's")

    @classmethod
    def happened(cls, text: str, value: str = "") -> "Finding":
        return cls("ok", "receiver_confirmed", text, value)

    @classmethod
    def refused(cls, text: str, value: str = "", *, sealed: bool = False) -> "Finding":
        return cls("rejected", "receiver_sealed" if sealed else "receiver_refused", text, value)

    @classmethod
    def not_known(cls, kind: str, text: str) -> "Finding":
        return cls("", kind, text)
