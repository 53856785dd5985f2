"""The cast of a script and the body of each of its commands: mostly what fits, sometimes what does not."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from .asks import read_spec
from .commands import QUEUES, ClaimOf, Forged, ProposalOf
from .moves import COUNTS
from .state import Job
from .world import World

EVIDENCE = (*COUNTS["ok"], *COUNTS["rejected"], "not_found", "timed_out", "ambiguous", "other")


class Bodies:
    """Draws from `rng`; looks at a model to know what would fit."""

    def __init__(self, rng: random.Random, run: str, clock: bool):
        self.rng, self.run, self.clock = rng, run, clock
        self.world = World(QUEUES)
        self.specs = dict(self.cast())

    def cast(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Two to four jobs, parents among the earlier ones."""
        names: list[str] = []
        for letter in "abcd"[: self.rng.randint(2, 4)]:
            queue = self.rng.choice(("mail", "mail", "ledger", "shop", "vip"))
            prefix = "vip-" if queue == "vip" and self.rng.random() < 0.9 else ""
            mark = self.rng.choice(("", "", "@3", "@5"))
            steps = [f"step {n}" for n in range(self.rng.randint(1, 3))]
            parent = self.rng.choice(names) if names and self.rng.random() < 0.4 else None
            marked = self.rng.choice(("marked", "unmarked"))
            names.append(f"{prefix}{self.run}-{letter}{mark}")  # order matters: parents come first
            yield names[-1], {"queue": queue, "dispatch": marked, "parent": parent, "steps": steps}

    def write(self, kind: str, job_id: str, job: Job | None) -> dict[str, Any]:
        """A body for this kind of command on this job; without its event id."""
        fill = getattr(self, f"for_{kind}", None)
        return fill(job_id, job) if fill else {}

    def mostly(self, right: Any, *others: Any) -> Any:
        return right if self.rng.random() < 0.8 else self.rng.choice(others)

    def spec(self, job_id: str) -> dict[str, Any]:
        spec = self.specs[job_id]
        other_queue = spec | {"queue": self.rng.choice(tuple(QUEUES))}
        other_steps = spec | {"steps": [*spec["steps"], "one more"]}
        written_out = spec | {"owner": "", "steps": [{"label": each, "params": {}} for each in spec["steps"]]}
        drawn: dict[str, Any] = self.mostly(spec, written_out, written_out, other_steps, other_queue)
        return drawn

    def token(self, job_id: str, job: Job | None) -> ClaimOf | Forged:
        count = len(job.issued) if job else 0
        others = [each for each in self.world.jobs.values() if each.issued and each.job_id != job_id]
        draw = self.rng.random()
        if others and draw < 0.05:
            return ClaimOf(self.rng.choice(others).job_id, 0)
        if not count or draw < 0.1:
            return Forged(self.rng.choice((1, max(1, job.fence) if job else 1, 99)))
        return ClaimOf(job_id, count - 1 if draw < 0.75 else self.rng.randrange(count))

    def ordinal(self, job: Job | None) -> int:
        if job is None:
            return 0
        out = job.unsettled()
        position = out if out is not None else job.first_pending() or 0
        disputed = [n for n, step in enumerate(job.steps) if step.disputed]
        drawn: int = self.rng.choice((position, position, position, *disputed, *range(len(job.steps) + 1)))
        return drawn

    def outcome(self, *outcomes: str) -> dict[str, Any]:
        outcome = self.rng.choice(outcomes)
        value = self.rng.choice(("", "250 queued", "251 queued")) if outcome != "unknown" else ""
        kinds = COUNTS.get(outcome, EVIDENCE)
        kind = self.rng.choice(kinds if self.rng.random() < 0.85 else EVIDENCE)
        return {"outcome": outcome, "value": value, "evidence": {"kind": kind, "text": f"seen: {kind}"}}

    def for_submit(self, job_id: str, job: Job | None) -> dict[str, Any]:
        return {"spec": self.spec(job_id)}

    def for_cancel(self, job_id: str, job: Job | None) -> dict[str, Any]:
        spec = self.spec(job_id)
        cause = self.mostly("user_requested", "operator_requested", "no_such_cause", "work_finished", None)
        told: dict[str, Any] = {"cause": cause} if cause else {}
        draw = self.rng.random()
        if draw < 0.6:
            told["spec"] = spec
        if draw > 0.5:
            told["spec_digest"] = read_spec(spec).digest
        if not 0.2 < draw < 0.8:
            told["cascade"] = True
        return told | {"grace_seconds": self.rng.choice((5, 90))} if self.clock else told

    def for_claim(self, job_id: str, job: Job | None) -> dict[str, Any]:
        ttl = self.rng.choice((5, 30, 3600)) if self.clock else 3600
        return {"worker": self.rng.choice(("worker-1", "worker-2")), "ttl_seconds": ttl}

    def for_heartbeat(self, job_id: str, job: Job | None) -> dict[str, Any]:
        return {"claim": self.token(job_id, job)}

    def for_reserve(self, job_id: str, job: Job | None) -> dict[str, Any]:
        attempt = self.rng.choice((None, "a1", "a2"))
        return {"claim": self.token(job_id, job)} | ({"attempt": attempt} if attempt else {})

    def for_dispatch(self, job_id: str, job: Job | None) -> dict[str, Any]:
        ordinal = self.ordinal(job)
        step = job.step(ordinal) if job else None
        attempt = self.mostly(step.attempt if step else None, "a1", "a2", None)
        told = {"claim": self.token(job_id, job), "ordinal": ordinal}
        return told | ({"attempt": attempt} if attempt else {})

    def for_report(self, job_id: str, job: Job | None) -> dict[str, Any]:
        told = self.outcome("ok", "ok", "ok", "rejected", "unknown")
        if told["outcome"] != "rejected" and self.rng.random() < 0.5:
            del told["evidence"]
        return {"claim": self.token(job_id, job), "ordinal": self.ordinal(job)} | told

    def for_release(self, job_id: str, job: Job | None) -> dict[str, Any]:
        return {"claim": self.token(job_id, job), "ordinal": self.ordinal(job)}

    def for_observe(self, job_id: str, job: Job | None) -> dict[str, Any]:
        evidence = {"kind": self.rng.choice(EVIDENCE), "text": "looked"}
        return {"ordinal": self.ordinal(job), "note": "I looked", "evidence": evidence}

    def for_reconcile(self, job_id: str, job: Job | None) -> dict[str, Any]:
        told = self.outcome("ok", "rejected")
        if not told["evidence"]["kind"].startswith("receiver_") and self.rng.random() < 0.8:
            told["evidence"]["kind"] = {"ok": "receiver_confirmed"}.get(told["outcome"], "receiver_refused")
        return {"ordinal": self.ordinal(job)} | told

    def for_approve(self, job_id: str, job: Job | None) -> dict[str, Any]:
        jobs = self.world.jobs.values()
        made = [ProposalOf(each.job_id, n) for each in jobs for n in range(len(each.proposals))]
        own = [each for each in made if each.job_id == job_id]
        drawn = self.rng.choice([*own, *own[-1:] * 3] or made or [ProposalOf(job_id, 0)])
        return {"proposal": drawn, "note": "seen"}

    def for_decline(self, job_id: str, job: Job | None) -> dict[str, Any]:
        return self.for_approve(job_id, job)

    def for_close_dispute(self, job_id: str, job: Job | None) -> dict[str, Any]:
        return {"ordinal": self.ordinal(job), "note": "asked the receiver"}

    def for_seal(self, job_id: str, job: Job | None) -> dict[str, Any]:
        return {"generation": self.rng.choice((0, 3, 4, 5))}

    def for_wait(self, job_id: str, job: Job | None) -> dict[str, Any]:
        """Long enough for a lease, a grace, and where one is out a proposal."""
        undecided = any(not made.decided for each in self.world.jobs.values() for made in each.proposals)
        return {"seconds": self.rng.choice((3, 6, 40, 100, *(90_000,) * 4 * undecided))}
