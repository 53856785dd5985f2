"""Receipts told by hand, one after the other, for the replay alone: no database, no command, no digest."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from runs.audit.findings import Finding, UnreadableError
from runs.audit.receipts import Read, Receipt
from runs.audit.replay import begin, follow
from runs.audit.state import Job

SPEC: dict[str, Any] = {
    "queue": "mail",
    "owner": "",
    "dispatch": "unmarked",
    "parent": None,
    "steps": [{"label": label, "tool": "", "target": "", "params": {}} for label in ("one", "two")],
}
CANCEL = {"cause": "other", "note": "", "asked_by": "", "grace_seconds": 90}


@dataclass
class Told:
    """A job that was just submitted. Each word is a receipt, whether it may stand there or not; what its
    detail tells is let pass, so that all that is found is where it stands."""

    dispatch: str = "unmarked"
    admitted: bool = True
    now: datetime = datetime(2026, 11, 29, 12, tzinfo=UTC)
    seq: int = 0
    found: list[Finding] = field(default_factory=list)
    job: Job = field(init=False)

    def __post_init__(self) -> None:
        spec = SPEC | {"dispatch": self.dispatch}
        kind = ("submit", "admitted") if self.admitted else ("cancel", "tombstoned")
        self.job = begin(self._read(*kind, {"spec": spec, "spec_digest": "", **CANCEL}, {}, "app"))
        self.job.take_findings()  # the digest, which is nobody's business here

    def later(self, **by: float) -> "Told":
        self.now += timedelta(**by)
        return self

    def __call__(self, kind: str, status: str, by: str = "w1", detail: Any = None, **body: Any) -> "Told":
        told = self._read(kind, status, body, detail or {}, by)
        try:
            for finding in follow(self.job, told):
                if not finding.where.startswith(("detail.", "ordinal of")):
                    self.found.append(finding)
        except UnreadableError as broken:
            self.found.append(broken.finding("unreadable"))
        self.found += self.job.take_findings()
        return self

    def _read(self, kind: str, status: str, body: Any, detail: Any, by: str) -> Read:
        self.seq += 1
        texts = json.dumps(body), json.dumps(detail)
        columns = (
            self.seq,
            None,
            "j",
            kind,
            status,
            "person",
            by,
            body.get("ordinal"),
            *texts,
            self.now,
            "",
            "",
        )
        return Read(Receipt(*columns), body, detail)

    @property
    def rules(self) -> list[tuple[str, str]]:
        """What was found: the rule, and where up to the receipt's name."""
        return [(finding.rule, finding.where.split(" before receipt")[0]) for finding in self.found]

    # -- words ----------------------------------------------------------------------------------------------
    def claim(self, cause: str | None = None) -> "Told":
        return self("claim", "claimed", worker="w1", ttl_seconds=90, detail={"cause": cause} if cause else {})

    def revoke(self) -> "Told":
        return self("revoke", "revoked", "lena", cause="other", note="")

    def reserve(self, claim: int = 1, attempt: str | None = "a") -> "Told":
        return self("reserve", "reserved", claim=claim, attempt=attempt)

    def dispatch_(self, status: str = "dispatched", attempt: str = "a", claim: int = 1) -> "Told":
        return self("dispatch", status, claim=claim, ordinal=0, attempt=attempt)

    def report(
        self, status: str, outcome: str = "ok", ordinal: int = 0, claim: int = 1, value: str = ""
    ) -> "Told":
        return self("report", status, claim=claim, ordinal=ordinal, outcome=outcome, value=value)

    def release(self) -> "Told":
        return self("release", "released", claim=1, ordinal=0)

    def cancel(self, status: str = "requested") -> "Told":
        return self("cancel", status, "lena", **CANCEL)

    def confirm(self) -> "Told":
        return self("checkpoint", "acknowledged", "system")

    def pause(self, status: str = "paused") -> "Told":
        return self("pause" if status == "paused" else "resume", status, "lena", cause="other", note="")

    def reconcile(self, status: str, outcome: str = "ok", ordinal: int = 0, proposal: str = "p") -> "Told":
        body = {"ordinal": ordinal, "outcome": outcome, "value": "", "evidence": {}}
        return self("reconcile", status, "sam", {"proposal": proposal}, **body)

    def decide(self, kind: str, status: str, by: str = "lena", proposal: str = "p") -> "Told":
        return self(kind, status, by, proposal=proposal)

    def close(self) -> "Told":
        return self("close_dispute", "dispute_closed", "lena", ordinal=0, note="")

    def lapse(self) -> "Told":
        return self("lapse", "lapsed", "system", {"cause": "work_claim_lost"})

    def escalate(self) -> "Told":
        return self("escalate", "escalated", "system")

    # -- what many begin with -------------------------------------------------------------------------------
    def out(self) -> "Told":
        return self.claim().reserve()

    def done(self) -> "Told":
        return self.out().report("settled").reserve().report("settled", ordinal=1)

    def failed(self) -> "Told":
        return self.out().report("settled", "rejected")

    def entered(self) -> "Told":
        return self.out().report("unresolved", "unknown").reconcile("proposed")
