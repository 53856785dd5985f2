"""What is asked: one record for all commands, specs, and what is refused before any table (422).

Not a validator: bounds of text and ids belong to the tests of the doors. Here is only what the tables of
PROTOCOL.md §4 and §6 lean on.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

from .state import Spec

#: The body that an event id binds, beside kind and job (§3).
BODY = {
    "cancel": ("digest", "named_cause", "note", "asked_by", "grace_seconds", "cascade"),
    "report": ("claim", "ordinal", "outcome", "value", "evidence"),
    "release": ("claim", "ordinal"),
    "revoke": ("named_cause", "note"),
    "pause": ("named_cause", "note"),
    "resume": ("named_cause", "note"),
    "observe": ("ordinal", "note", "evidence"),
    "reconcile": ("ordinal", "outcome", "value", "evidence"),
    "approve": ("proposal", "note"),
    "decline": ("proposal", "note"),
    "close_dispute": ("ordinal", "note"),
    "seal": ("generation",),
}
RELEASE_CAUSES = ("work_finished", "chat_turn_finished")
BUILT_IN = """
    user_requested operator_requested paused_by_user paused_by_orchestrator task_deleted paused_on_reload
    goal_met settle_drain_timeout killed_by_planner work_paused_by_user work_cancelled_by_user work_claim_lost
    work_finished paused_race_guard chat_stopped_by_user chat_paused_with_task chat_turn_finished shutdown
    run_hard_timeout parent_cancelled deadline_exceeded canceled_no_cause other
"""
CAUSES = frozenset(BUILT_IN.split())


@dataclass(frozen=True)
class Ask:
    """A command with its defaults filled in. `claim` is a fence, 0 for a token never issued for the job."""

    kind: str
    who: str
    now: float
    job_id: str | None = None
    event_id: str | None = None
    spec: Any = None
    spec_digest: str | None = None
    cause: str | None = None
    note: str = ""
    asked_by: str = ""
    grace_seconds: float = 90
    cascade: bool = False
    worker: str = ""
    ttl_seconds: float = 90
    claim: int = 0
    heard: int | None = None
    attempt: str | None = None
    ordinal: int = 0
    outcome: str = ""
    value: str = ""
    evidence: Any = None
    proposal: int = 0
    generation: int = 0

    @property
    def digest(self) -> str | None:
        return self.spec_digest if self.spec is None else read_spec(self.spec).digest

    @property
    def named_cause(self) -> str:
        return self.cause or ("canceled_no_cause" if self.kind == "cancel" else "other")

    @property
    def evidence_kind(self) -> str:
        """A report ok without evidence is taken as the worker's word (§6)."""
        return self.evidence["kind"] if self.evidence else "worker_reported"

    @property
    def by_verifier(self) -> bool:
        return self.who.startswith("verifier:")

    def content(self) -> str:
        """What the event id binds, as one comparable text."""
        body = {name: getattr(self, name) for name in BODY[self.kind]}
        return json.dumps([self.kind, self.job_id, body], sort_keys=True)


def canonical(value: Any) -> str:
    """RFC 8785 for what specs and receipts of these tests hold (no fractions, keys of the ASCII range)."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def read_spec(spec: dict[str, Any]) -> Spec:
    """Fill in the defaults of §2 and take the digest."""
    empty = {"tool": "", "target": "", "params": {}}
    steps = [empty | ({"label": step} if isinstance(step, str) else step) for step in spec["steps"]]
    full = {"owner": "", "dispatch": "unmarked", "parent": None} | spec | {"steps": steps}
    return Spec(sha256(canonical(full)), full["queue"], full["dispatch"], full["parent"], len(steps))


def generation(job_id: str) -> int:
    """The generation a job id belongs to, 0 without a mark (§2)."""
    found = re.search(r"@(\d+)$", job_id)
    return int(found[1]) if found else 0


def breaks_shape(ask: Ask) -> bool:
    """422 by the body alone, so before the event id is looked at."""
    if ask.kind == "cancel":
        both = ask.spec is not None and ask.spec_digest is not None
        return ask.digest is None or (both and ask.spec_digest != ask.digest)
    if ask.kind == "claim":
        return not 5 <= ask.ttl_seconds <= 3600
    if ask.kind == "report":
        bare = ask.outcome == "rejected" and not ask.evidence
        return bare or (ask.outcome == "unknown" and ask.value != "")
    return ask.kind in ("observe", "reconcile") and not ask.evidence
