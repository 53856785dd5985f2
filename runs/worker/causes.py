"""Why something was stopped: a cause as the server names it (docs/protocol.md, section 8).

Not the catalogue of causes, which is the server's. Here are only those that a worker has to name by itself
when no answer named one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """`code` is stable, `short` a few words, `text` a sentence for people."""

    code: str
    short: str
    text: str

    @classmethod
    def read(cls, raw: Mapping[str, str] | None, otherwise: Cause) -> Cause:
        """The cause object of an answer, or `otherwise` where the answer has none."""
        if not raw:
            return otherwise
        code = raw["code"]
        return cls(code, raw.get("short") or code, raw.get("text") or "")


WORK_CLAIM_LOST = Cause(
    "work_claim_lost", "Claim lost", "This worker no longer holds the claim of the job, so it stopped."
)
CANCELED_NO_CAUSE = Cause(
    "canceled_no_cause", "Cancelled, no cause given", "A cancel was accepted that named no cause."
)


def other(error: BaseException) -> Cause:
    """The last fallback of section 8: anything else, by its first line, at most 80 characters of it."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return Cause("other", lines[0][:80], str(error))
