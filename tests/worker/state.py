"""What the fake server remembers of a job, and the shapes of its answers. It decides nothing (fake.py)."""

import hashlib
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

Body = dict[str, Any]
Reply = tuple[int, Body]


NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass
class Step:
    spec: Body
    state: str = "pending"
    value: str | None = None
    fence: int = 0
    attempt: str | None = None
    mark: str | None = None  # the attempt it was dispatched under
    put_back: bool = False  # by a lapse
    disputed: bool = False
    testimony: list[Body] = field(default_factory=list)


@dataclass
class Job:
    spec: Body
    steps: list[Step]
    admitted: bool
    control: str = "run"
    cancel: Body | None = None
    paused: Body | None = None
    holder: str = ""
    fence: int = 0
    lease: datetime = NEVER
    ttl: int = 90
    tokens: dict[str, int] = field(default_factory=dict)
    lost_by: str = "work_claim_lost"
    heard: int | None = None
    seq: int = 0

    @property
    def marked(self) -> bool:
        return bool(self.spec["dispatch"] == "marked")

    @property
    def result(self) -> str:
        if any(step.state == "rejected" for step in self.steps):
            return "failed"
        done = self.admitted and all(step.state == "ok" for step in self.steps)
        return "succeeded" if done else "open"

    @property
    def next(self) -> int:
        return next((n for n, step in enumerate(self.steps) if step.state != "ok"), len(self.steps))

    @property
    def out(self) -> int | None:
        return next((n for n, step in enumerate(self.steps) if step.state in ("inflight", "unknown")), None)

    @property
    def live(self) -> bool:
        return self.lease > datetime.now(UTC) and bool(self.holder)

    def renew(self) -> None:
        self.lease = datetime.now(UTC) + timedelta(seconds=self.ttl)

    def is_newest(self, token: str) -> bool:
        return self.tokens.get(token) == self.fence

    def shown(self, job_id: str) -> Body:
        """The job as `GET` shows it, as far as a worker and these tests look."""
        shown = [
            step.spec
            | {"ordinal": n, "state": step.state, "value": step.value, "disputed": step.disputed}
            | {"testimony": step.testimony}
            for n, step in enumerate(self.steps)
        ]
        cancel = self.cancel and {"cause": self.cancel["cause"], "heard_at": self.heard and stamp()}
        return {
            "job_id": job_id,
            "dispatch": self.spec["dispatch"],
            "spec_digest": digest(self.spec),
            "admitted": self.admitted,
            "control": self.control,
            "result": self.result,
            "cancel": cancel,
            "steps": shown,
            "unsettled": self.out,
            "claim": {"worker": self.holder, "fence": self.fence, "live": self.live} if self.holder else None,
        }


def cause(code: str) -> Body:
    return {"code": code, "short": code.replace("_", " "), "text": f"The cause is {code}."}


def whole(spec: Body) -> Body:
    steps = [{"label": step} if isinstance(step, str) else step for step in spec["steps"]]
    steps = [{"tool": "", "target": "", "params": {}} | step for step in steps]
    return {"owner": "", "dispatch": "unmarked", "parent": None} | spec | {"steps": steps}


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def problem(status: int, code: str, *fields: str) -> Reply:
    errors = [{"field": name, "message": "is refused"} for name in fields]
    return status, {
        "type": "about:blank",
        "title": code,
        "status": status,
        "code": code,
        "detail": "",
        "errors": errors,
    }


def stamp(at: datetime | None = None) -> str:
    return (at or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
