"""A small honest server: the rows of the protocol that a worker meets, in memory, written from PROTOCOL.md.

Stands in for the real one behind the `server` fixture. It knows no permissions, parents, second person; what
it does answer, it decides as the page says, in the page's order, and it refuses unknown fields.
"""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from .state import Body, Job, Reply, Step, cause, digest, problem, stamp, whole

FIELDS = {
    "submit": {"job_id", "spec"},
    "cancel": {"event_id", "spec", "spec_digest", "cause", "note", "asked_by", "grace_seconds", "cascade"},
    "claim": {"worker", "ttl_seconds"},
    "heartbeat": {"claim", "heard"},
    "reserve": {"claim", "attempt"},
    "dispatch": {"claim", "ordinal", "attempt"},
    "report": {"event_id", "claim", "ordinal", "outcome", "value", "evidence"},
    "release": {"event_id", "claim", "ordinal"},
    "revoke": {"event_id", "cause", "note"},
    "pause": {"event_id", "cause", "note"},
    "resume": {"event_id", "cause", "note"},
}
SETTLES = {
    "ok": {"receiver_confirmed", "worker_reported"},
    "rejected": {"receiver_refused", "receiver_sealed", "worker_refused"},
}
KINDS = SETTLES["ok"] | SETTLES["rejected"] | {"not_found", "timed_out", "ambiguous", "other"}


class Fake:
    def __init__(self) -> None:
        self.jobs: dict[str, Job] = {}
        self.lock = threading.RLock()
        self.events: dict[str, tuple[str, Reply]] = {}

    def ask(self, name: str, job_id: str, body: Body) -> Reply:
        """Decide one command. `job` reads."""
        with self.lock:
            if name == "job":
                return (
                    (200, self.jobs[job_id].shown(job_id))
                    if job_id in self.jobs
                    else problem(404, "not_found")
                )
            if name not in FIELDS:
                return problem(404, "not_found")
            if unknown := set(body) - FIELDS[name]:
                return problem(422, "invalid", *unknown)
            bound = digest([name, job_id, body])
            if known := self.events.get(body.get("event_id", "")):
                if known[0] != bound:
                    return 409, {"status": "event_conflict", "replayed": False, "receipt": None}
                return known[1][0], known[1][1] | {"replayed": True}
            if job_id not in self.jobs and name not in ("submit", "cancel"):
                return problem(404, "not_found")
            command: Callable[[str, Body], Reply] = getattr(self, name)
            code, said = command(job_id, body)
            if code == 422:
                return code, said
            receipt = None if name == "heartbeat" or code == 409 else self.receipt(job_id, name, body, said)
            reply = code, {"replayed": False, "receipt": receipt} | said
            if "event_id" in body:
                self.events[body["event_id"]] = bound, reply
            job = self.jobs.get(job_id)
            if job and job.control == "requested" and job.out is None:
                job.control = "acknowledged"
            return reply

    def receipt(self, job_id: str, kind: str, body: Body, said: Body) -> Body:
        job = self.jobs[job_id]
        job.seq += 1
        return {"seq": job.seq, "event_id": body.get("event_id"), "job_id": job_id, "kind": kind, **said}

    # ── callers and staff ──

    def submit(self, _: str, body: Body) -> Reply:
        job_id, spec = body["job_id"], whole(body["spec"])
        if job := self.jobs.get(job_id):
            same = digest(job.spec) == digest(spec)
            status = ("existing" if job.admitted else "blocked_cancelled") if same else "conflict"
            return 200 if status == "existing" else 409, {"status": status, "spec_digest": digest(spec)}
        self.jobs[job_id] = Job(spec, [Step(step) for step in spec["steps"]], admitted=True)
        return 201, {"status": "admitted", "spec_digest": digest(spec)}

    def cancel(self, job_id: str, body: Body) -> Reply:
        spec = whole(body["spec"]) if "spec" in body else None
        why = cause(body.get("cause", "canceled_no_cause"))
        job = self.jobs.get(job_id)
        if job is None and spec is None:
            return 422, {"status": "spec_required"}
        if job is None and spec is not None:
            steps = [Step(step) for step in spec["steps"]]
            self.jobs[job_id] = Job(
                spec, steps, admitted=False, control="acknowledged", cancel={"cause": why}
            )
            return 201, {"status": "tombstoned"}
        assert job is not None
        if digest(job.spec) != (digest(spec) if spec else body["spec_digest"]):
            return 409, {"status": "spec_conflict"}
        if job.control != "run":
            return 200, {"status": "already_requested"}
        if job.result != "open":
            return 200, {"status": "too_late"}
        job.control = "requested"
        job.cancel = {"seq": job.seq + 1, "level": "stop", "cause": why, "at": stamp(), "grace_until": None}
        return 202, {"status": "requested"}

    def revoke(self, job_id: str, body: Body) -> Reply:
        job = self.jobs[job_id]
        if not job.holder:
            return 409, {"status": "no_claim"}
        self.gone(job)
        job.fence, job.holder, job.lost_by = job.fence + 1, "", body.get("cause", "work_claim_lost")
        return 200, {"status": "revoked"}

    def pause(self, job_id: str, body: Body) -> Reply:
        job = self.jobs[job_id]
        if job.result != "open" or job.control != "run":
            return 409, {"status": "too_late"}
        job.paused = {"seq": job.seq + 1, "level": "pause", "cause": cause("paused_by_user"), "at": stamp()}
        return 200, {"status": "paused"}

    def resume(self, job_id: str, body: Body) -> Reply:
        self.jobs[job_id].paused = None
        return 200, {"status": "resumed"}

    def lapse(self, job_id: str) -> None:
        """The lease ends now, and a settle pass sees it (section 5)."""
        with self.lock:
            job = self.jobs[job_id]
            job.lease = datetime.now(UTC) - timedelta(seconds=1)
            step = job.steps[job.out] if job.out is not None else None
            if step and step.state == "inflight" and (step.mark or not job.marked):
                step.state = "unknown"
            elif step and step.state == "inflight" and job.control != "run":
                step.state, step.attempt, step.put_back = "pending", None, True
                job.control = "acknowledged"

    def gone(self, job: Job) -> None:
        """Claim taken over or revoked (section 5)."""
        step = job.steps[job.out] if job.out is not None else None
        if step and step.state == "inflight":
            step.state = "unknown" if step.mark or not job.marked else "pending"

    # ── the worker ──

    def claim(self, job_id: str, body: Body) -> Reply:
        job = self.jobs[job_id]
        if not job.admitted:
            return 409, {"status": "not_admitted"}
        if job.result != "open" or job.control == "acknowledged":
            return 409, {"status": "closed"}
        if job.live:
            return 409, {"status": "claim_held", "holder": job.holder, "lease_expires_at": stamp(job.lease)}
        self.gone(job)
        job.fence, job.holder, job.lost_by = job.fence + 1, body["worker"], "work_claim_lost"
        job.ttl = body.get("ttl_seconds", 90)
        token = f"{job.fence}-{uuid4().hex}"
        job.tokens[token] = job.fence
        job.renew()
        return 200, {
            "status": "claimed",
            "claim": token,
            "fence": job.fence,
            "lease_expires_at": stamp(job.lease),
        }

    def heartbeat(self, job_id: str, body: Body) -> Reply:
        job = self.jobs[job_id]
        if not job.is_newest(body["claim"]):
            return 409, {"status": "claim_lost", "cause": cause(job.lost_by)}
        if body.get("heard") is not None:
            job.heard = body["heard"]
        stop = job.cancel if job.control != "run" else None
        if job.result != "open" or job.control == "acknowledged":
            return 200, {"status": "closed", "control": job.control, "signal": stop}
        job.renew()
        paused = job.paused and job.paused["at"]
        return 200, {"status": "ok", "control": job.control, "paused": paused, "signal": stop or job.paused}

    def reserve(self, job_id: str, body: Body) -> Reply:
        job, attempt = self.jobs[job_id], body.get("attempt")
        if not job.is_newest(body["claim"]):
            return 409, {"status": "claim_lost", "cause": cause(job.lost_by)}
        if job.out is not None:
            step = job.steps[job.out]
            mine = step.fence == job.fence and attempt is not None and step.attempt == attempt
            if step.state == "inflight" and not step.mark and mine:
                return 200, self.reserved(job_id, job, job.out) | {"replayed": True}
            return 200, {"status": step.state, "ordinal": job.out, "dispatched": bool(step.mark)}
        if job.result != "open":
            return 200, {"status": "finished"}
        if job.control != "run":
            assert job.cancel is not None
            return 200, {"status": "cancelled", "cause": job.cancel["cause"]}
        if job.paused:
            return 200, {"status": "paused"}
        step = job.steps[job.next]
        if step.disputed:
            return 200, {"status": "disputed"}
        step.state, step.fence, step.attempt, step.put_back = "inflight", job.fence, attempt, False
        job.renew()
        return 200, self.reserved(job_id, job, job.next)

    def reserved(self, job_id: str, job: Job, ordinal: int) -> Body:
        key = "cb-" + digest(["acme", job_id, ordinal])[:32]
        step = job.steps[ordinal].spec
        return {
            "status": "reserved",
            "ordinal": ordinal,
            "step": step,
            "idempotency_key": key,
            "dispatched": False,
        }

    def dispatch(self, job_id: str, body: Body) -> Reply:
        job, attempt = self.jobs[job_id], body.get("attempt")
        step = job.steps[body["ordinal"]]
        if not job.is_newest(body["claim"]):
            return 409, {"status": "claim_lost", "cause": cause(job.lost_by)}
        if not job.marked:
            return 409, {"status": "unmarked"}
        if step.state != "inflight" or (not step.mark and step.attempt != attempt):
            return 409, {"status": "not_reserved"}
        if step.mark and attempt and step.mark == attempt:
            return 200, {"status": "dispatched", "replayed": True}
        if step.mark:
            return 409, {"status": "already_dispatched"}
        if job.control != "run":
            assert job.cancel is not None
            step.state = "pending"
            return 200, {"status": "cancelled", "cause": job.cancel["cause"]}
        step.mark = attempt or "none"
        job.renew()
        return 200, {"status": "dispatched"}

    def report(self, job_id: str, body: Body) -> Reply:
        job, outcome, value = self.jobs[job_id], body["outcome"], body.get("value", "")
        evidence = body.get("evidence") or ({"kind": "worker_reported"} if outcome == "ok" else {})
        if len(value.encode()) > 4096 or any(ord(c) < 32 and c not in "\n\t" for c in value):
            return problem(422, "invalid", "value")
        if evidence and evidence["kind"] not in KINDS:
            return problem(422, "invalid", "evidence.kind")
        if (outcome == "rejected" and not evidence) or (outcome == "unknown" and value):
            return problem(422, "invalid", "evidence")
        fence, step = job.tokens.get(body["claim"], 0), job.steps[body["ordinal"]]
        said = {"fence": fence, "outcome": outcome, "value": value}
        stale = fence != job.fence
        if not fence:
            return 409, {"status": "claim_lost"}
        if step.state == "pending" and outcome != "rejected" and (stale or step.put_back):
            step.testimony.append(said)
            step.disputed = True
            return 409, {"status": "fenced"}
        if step.state == "pending":
            return 409, {"status": "not_reserved"}
        if step.state in ("ok", "rejected"):
            return 409, {"status": "already_settled"}
        if stale:
            step.testimony.append(said)
            return 409, {"status": "fenced"}
        job.renew()
        if outcome == "unknown":
            step.state = "unknown"
            return 200, {"status": "unresolved", "result": job.result}
        if evidence["kind"] not in SETTLES[outcome]:
            return 409, {"status": "not_evidence"}
        step.state, step.value = outcome, value
        return 200, {"status": "settled", "result": job.result}

    def release(self, job_id: str, body: Body) -> Reply:
        job, step = self.jobs[job_id], self.jobs[job_id].steps[body["ordinal"]]
        if not job.is_newest(body["claim"]):
            return 409, {"status": "claim_lost"}
        if not job.marked:
            return 409, {"status": "unmarked"}
        if step.state != "inflight":
            return 409, {"status": "not_reserved"}
        if step.mark:
            return 409, {"status": "already_dispatched"}
        step.state = "pending"
        job.renew()
        return 200, {"status": "released"}
