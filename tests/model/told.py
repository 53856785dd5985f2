"""A world for stories: one job `j`, fresh event ids, answers as (http, status)."""

from __future__ import annotations

from typing import Any

from .state import Answer
from .world import World

CONFIRMED = {"kind": "receiver_confirmed", "text": "250"}
REFUSED = {"kind": "receiver_refused", "text": "550"}
WITHOUT_ID = ("submit", "claim", "heartbeat", "reserve", "dispatch", "checkpoint")


def spec(queue: str = "mail", dispatch: str = "unmarked", steps: int = 2, **more: Any) -> dict[str, Any]:
    return {"queue": queue, "dispatch": dispatch, "steps": [f"step {n}" for n in range(steps)]} | more


class Told(World):
    """`say` for the answer in two words, `ask` for all of it."""

    asked = 0

    def say(self, kind: str, job_id: str = "j", **fields: Any) -> tuple[int, str | None]:
        answer = self.ask(kind, job_id, **fields)
        return answer.http, answer.status

    def ask(self, kind: str, job_id: str = "j", **fields: Any) -> Answer:
        self.asked += 1
        fresh = {} if kind in WITHOUT_ID else {"event_id": f"e{self.asked}"}
        return self.do(kind, **fresh | {"job_id": job_id} | fields)

    def kinds(self, job_id: str = "j") -> list[str]:
        return [f"{kind} {status}" for _, kind, status, _, _ in self.receipts(job_id)]

    def states(self, job_id: str = "j") -> list[str]:
        return [step["state"] for step in self.job(job_id)["steps"]]
