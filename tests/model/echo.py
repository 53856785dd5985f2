"""A server that is none: a door that answers in HTTP.md's shapes from a model of its own.

Only to test the driver: it must agree with an honest echo, and see each lie of a dishonest one.
"""

from __future__ import annotations

from typing import Any

from .asks import BODY, canonical, generation, sha256
from .commands import QUEUES
from .state import Answer, Receipt
from .world import World

AT = "2026-11-29T00:00:00.000000Z"
ACTOR = {"type": "service", "name": "somebody"}


class Echo:
    """A door. Tokens are `<fence>-<32 hex>`, proposals numbered through the tenant."""

    def __init__(self) -> None:
        self.world = World(QUEUES)
        self.tokens: dict[str, tuple[str | None, int]] = {}
        self.proposals: list[tuple[str | None, int]] = []
        self.alone: dict[str, dict[str, Any]] = {}
        self.first: dict[str, dict[str, Any]] = {}

    def __call__(self, kind: str, job_id: str | None, body: dict[str, Any], who: str) -> tuple[int, Any]:
        if kind == "wait":
            self.world.now += body["seconds"]
            return 200, {}
        if kind == "settle":
            self.world.settle()
            return 200, {}
        if kind in ("job", "receipts", "receipt"):
            return getattr(self, f"get_{kind}")(job_id, body)  # type: ignore[no-any-return]
        answer = self.world.do(kind, who=who, job_id=job_id, **self.understood(job_id, body))
        return answer.http, self.written(kind, job_id, body, answer)

    def understood(self, job_id: str | None, body: dict[str, Any]) -> dict[str, Any]:
        known = dict(body)
        if "claim" in body:
            owner, fence = self.tokens.get(body["claim"], (None, 0))
            known["claim"] = fence if owner == job_id else 0
        if "proposal" in body:
            made = self.proposals[body["proposal"]] if body["proposal"] < len(self.proposals) else (None, 0)
            known["proposal"] = made[1] if made[0] == job_id else 0
        return known

    def written(self, kind: str, job_id: str | None, body: dict[str, Any], answer: Answer) -> dict[str, Any]:
        if answer.status is None or answer.http == 403:
            return {"status": answer.http, "code": answer.status or "other"}
        event_id = body.get("event_id") if kind in BODY else None
        if answer.replayed and event_id:
            return self.first[event_id] | {"replayed": True}
        told: dict[str, Any] = {
            "status": answer.status,
            "replayed": answer.replayed,
            "receipt": None,
        } | answer.fields
        if "cause" in told:
            told["cause"] = {"code": told["cause"]}
        if told.get("signal"):
            causes = {
                key: {"code": told["signal"][key]}
                for key in ("cause", "original_cause")
                if key in told["signal"]
            }
            told["signal"] = told["signal"] | causes
        if answer.status == "claimed":
            told["claim"] = f"{answer.fields['fence']}-{sha256(f'{job_id}{len(self.tokens)}')[:32]}"
            self.tokens[told["claim"]] = job_id, answer.fields["fence"]
        if answer.status == "proposed":
            told["proposal"] = len(self.proposals)
            self.proposals.append((job_id, answer.fields["proposal"]))
        if answer.status == "reserved":
            told["idempotency_key"] = "cb-" + sha256(canonical(["acme", job_id, told["ordinal"]]))[:32]
        if answer.receipt_kept:
            told["receipt"] = self.receipt_of(kind, job_id, event_id, answer)
        if answer.receipt_kept and event_id:
            self.first[event_id] = told
        return told

    def receipt_of(self, kind: str, job_id: str | None, event_id: Any, answer: Answer) -> dict[str, Any]:
        rows = self.chain(job_id) if job_id in self.world.jobs else []
        own = [each for each in rows if each["kind"] == kind and each["event_id"] == event_id]
        if own:
            return own[-1]
        alone = Receipt(None, kind, answer.status or "", event_id, None, answer.http)
        self.alone[event_id] = self.receipt(alone, job_id, "")
        return self.alone[event_id]

    def receipt(self, kept: Receipt, job_id: str | None, before: str) -> dict[str, Any]:
        told = {name: getattr(kept, name) for name in ("seq", "kind", "status", "event_id", "ordinal")}
        told |= {"job_id": job_id, "actor": ACTOR, "body": {}, "detail": {}, "at": AT, "prev_digest": before}
        return told | {"digest": sha256(canonical(told))}

    def chain(self, job_id: str | None) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for kept in self.world.jobs[job_id or ""].receipts:
            rows.append(self.receipt(kept, job_id, rows[-1]["digest"] if rows else "0" * 64))
        return rows

    def get_job(self, job_id: str, body: dict[str, Any]) -> tuple[int, Any]:
        if job_id not in self.world.jobs:
            return (410 if generation(job_id) <= self.world.sealed else 404), {}
        told = self.world.job(job_id)
        steps = [
            step
            | {"dispatched_at": AT if step["dispatched"] else None}
            | {"settled_by": step["settled_by"] and {"seq": step["settled_by"]}}
            for step in told["steps"]
        ]
        return 200, told | {"tenant": "acme", "paused_at": AT if told["paused"] else None, "steps": steps}

    def get_receipts(self, job_id: str, body: dict[str, Any]) -> tuple[int, Any]:
        rows = self.chain(job_id)[body["after"] :]
        return 200, {"receipts": rows[:7], "next_after": rows[6]["seq"] if len(rows) > 7 else None}

    def get_receipt(self, job_id: str | None, body: dict[str, Any]) -> tuple[int, Any]:
        event_id = body["event_id"]
        rows = [
            each for known in self.world.jobs for each in self.chain(known) if each["event_id"] == event_id
        ]
        return 200, rows[0] if rows else self.alone[event_id]
