"""A plain model of one tenant, written from PROTOCOL.md alone: slow, in memory, meant to be obviously right.

It is the second opinion of the tests, not the product: no digests of receipts, no rights (but `same_person`).
Time is an argument. A world is small and cheap to copy; all that it holds is immutable.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

from . import people, stops, worker
from .asks import CAUSES, RELEASE_CAUSES, Ask, breaks_shape, canonical, generation, read_spec, sha256
from .moves import lapsed
from .state import SETTLED, Answer, Job, Proposal, Queue, Receipt, Verdict
from .view import show

TABLES: dict[str, Callable[..., Verdict]] = {
    **{f.__name__: f for f in (stops.submit, stops.cancel, stops.checkpoint, stops.seal)},
    **{f.__name__: f for f in (worker.claim, worker.heartbeat, worker.reserve, worker.dispatch)},
    **{f.__name__: f for f in (worker.report, worker.release, people.revoke, people.pause, people.resume)},
    **{f.__name__: f for f in (people.observe, people.reconcile, people.approve, people.decline)},
    "close_dispute": people.close_dispute,
}
#: Tables with a row for an unknown job; elsewhere it is a 404 (§4).
KNOWS_UNKNOWN = ("submit", "cancel", "report", "seal")


@dataclass(frozen=True)
class Kept:
    """What an event id was used for, and how that was answered."""

    content: str
    answer: Answer


class World:
    """One tenant. `do` runs a command, `job` and `receipts` show what can be seen afterwards."""

    def __init__(self, queues: Mapping[str, Queue], sealed: int = -1, retired: frozenset[str] = frozenset()):
        self.queues = dict(queues)
        self.sealed = sealed
        self.retired = retired
        self.now = 0.0
        self.jobs: dict[str, Job] = {}
        self.kept: dict[str, Kept] = {}

    def copy(self) -> Self:
        twin = copy(self)
        twin.jobs, twin.kept = dict(self.jobs), dict(self.kept)
        return twin

    def key(self) -> Hashable:
        """Equal for worlds that no command can tell apart; to remember what a search has seen."""
        return self.now, self.sealed, frozenset(self.jobs.values()), frozenset(self.kept.items())

    def do(self, kind: str, *, who: str = "p1", now: float | None = None, **fields: Any) -> Answer:
        """Run one command and then the checkpoints of ancestors that it made possible.

        `fields` are the body's of HTTP.md, `claim` given as a fence (0: never issued for the job),
        `proposal` as the number the proposing answer gave. `now` in seconds, never back.
        """
        answer = self.command(kind, who=who, now=now, **fields)
        self.checkpoint_ancestors()
        return answer

    def command(self, kind: str, *, who: str = "p1", now: float | None = None, **fields: Any) -> Answer:
        """One command = one transaction, without the later ones that checkpoint its ancestors."""
        self.now = max(self.now, self.now if now is None else now)
        ask = Ask(kind, who, self.now, **fields)
        job = self.jobs.get(ask.job_id or "")
        if not (job and job.was_issued(ask.claim)):
            ask = replace(ask, claim=0)
        return self.before_the_table(job, ask) or self.decide(job, ask)

    def before_the_table(self, job: Job | None, ask: Ask) -> Answer | None:
        """Body, rights, replay, what the tenant knows, unknown jobs. None: the table decides."""
        if breaks_shape(ask):
            return Answer(422, None)
        proposal = people.find(job, ask.proposal) if ask.kind == "approve" else None
        if proposal is not None and proposal.by == ask.who:
            return Answer(403, "same_person")
        if ask.event_id in self.kept:
            kept = self.kept[ask.event_id]
            if kept.content != ask.content():
                return Answer(409, "event_conflict")
            return replace(kept.answer, replayed=True, receipt_kept=False)
        if ask.spec is not None and read_spec(ask.spec).queue not in self.queues:
            return Answer(422, None)
        wrong = ask.kind == "cancel" and ask.cause in RELEASE_CAUSES
        if ask.cause is not None and (ask.cause not in CAUSES or ask.cause in self.retired or wrong):
            return Answer(422, None)
        if job is not None or ask.kind in ("submit", "seal"):
            return None
        assert ask.job_id is not None
        if generation(ask.job_id) <= self.sealed:
            return self.write(None, ask, Verdict("sealed", 409, kept=ask.event_id is not None))
        return None if ask.kind in KNOWS_UNKNOWN else Answer(404, None)

    def decide(self, job: Job | None, ask: Ask) -> Answer:
        if ask.kind == "reconcile" and job is not None:
            job = self.lapse(job)
        below = self.unfinished_below(job.job_id) if ask.cascade and job is not None else []
        answer = self.write(job, ask, TABLES[ask.kind](self, job, ask))
        if answer.status == "sealed" and ask.kind == "seal":
            self.sealed = ask.generation
        if answer.receipt_kept and ask.job_id in self.jobs:
            self.acknowledge(self.jobs[ask.job_id])
        for child in below:
            self.pass_on(ask, self.jobs[child])
        return answer

    def pass_on(self, ask: Ask, child: Job) -> None:
        """§9: a cancel of its own for each, whatever was answered above; confirmed where nothing is out."""
        event_id = "~" + sha256(canonical([ask.event_id, child.job_id]))
        own = {"job_id": child.job_id, "event_id": event_id, "spec": None, "spec_digest": child.spec.digest}
        asked = replace(ask, **own, cause="parent_cancelled", cascade=False)
        self.write(child, asked, stops.cancel(self, child, asked))

    def write(self, job: Job | None, ask: Ask, verdict: Verdict) -> Answer:
        """State and receipt together, and the event id with the answer it will have for ever."""
        answer = Answer(verdict.http, verdict.status, verdict.replayed, verdict.fields, verdict.kept)
        after = verdict.job or job
        if verdict.kept and after is not None:
            fence = ask.claim if ask.kind in ("reserve", "dispatch", "report", "release") else None
            self.append(job, after, ask.kind, verdict, event_id=ask.event_id, fence=fence)
        elif after is not None:
            self.jobs[after.job_id] = after
        if verdict.kept and ask.event_id is not None:
            self.kept[ask.event_id] = Kept(ask.content(), answer)
        return answer

    def append(
        self,
        before: Job | None,
        after: Job,
        kind: str,
        verdict: Verdict,
        event_id: str | None = None,
        fence: int | None = None,
    ) -> Job:
        """One more receipt; the steps it moved remember it."""
        seq = after.seq + 1
        steps = list(after.steps)
        for n, (was, step) in enumerate(zip(before.steps if before else steps, steps, strict=True)):
            if (was.state, was.testimony, was.disputed) != (step.state, step.testimony, step.disputed):
                final = step.state in SETTLED and was.state not in SETTLED
                steps[n] = replace(step, version=seq, settled_by=seq if final else step.settled_by)
        status, told = verdict.status or "", (verdict.ordinal, verdict.http)
        receipt = Receipt(seq, kind, status, event_id, *told, fence, after.fence, verdict.value)
        job = replace(after, steps=tuple(steps), receipts=(*after.receipts, receipt))
        self.jobs[job.job_id] = job
        return job

    # The clock (§4 checkpoint, §5, §10)

    def acknowledge(self, job: Job) -> bool:
        """Confirm the stop where nothing is out any more; says whether it did."""
        if not self.can_acknowledge(job):
            return False
        self.append(job, replace(job, control="acknowledged"), "checkpoint", Verdict("acknowledged"))
        return True

    def can_acknowledge(self, job: Job) -> bool:
        waiting = job.unsettled() is not None or self.children_unfinished(job.job_id) > 0
        return job.control == "requested" and not waiting

    def checkpoint_ancestors(self) -> None:
        """No job below keeps them waiting any more: one receipt each, from below."""
        while any(self.acknowledge(job) for job in tuple(self.jobs.values())):
            pass

    def lapse(self, job: Job) -> Job:
        moved = lapsed(job, self.now)
        return self.append(job, moved[0], "lapse", Verdict("lapsed", ordinal=moved[1])) if moved else job

    def settle(self, *, now: float | None = None) -> None:
        """One pass of the settle loop: lapses, escalations, expired proposals, checkpoints."""
        self.now = max(self.now, self.now if now is None else now)
        for job_id in sorted(self.jobs):
            self.acknowledge(self.escalate(self.lapse(self.jobs[job_id])))
            for proposal in self.jobs[job_id].proposals:
                self.expire(self.jobs[job_id], proposal)
        self.checkpoint_ancestors()

    def escalate(self, job: Job) -> Job:
        cancel = job.cancel
        if cancel is None or job.control != "requested" or cancel.escalated or self.now < cancel.grace_until:
            return job
        after = replace(job, cancel=replace(cancel, escalated=job.seq + 1))
        return self.append(job, after, "escalate", Verdict("escalated"))

    def expire(self, job: Job, proposal: Proposal) -> None:
        if proposal.decided or proposal.expire_told or not proposal.expired(self.now):
            return
        told = tuple(replace(each, expire_told=True) if each == proposal else each for each in job.proposals)
        self.append(job, replace(job, proposals=told), "expire", Verdict("expired", ordinal=proposal.ordinal))

    # What can be seen

    def unfinished(self, job_id: str, path: tuple[str, ...] = ()) -> bool:
        """§9. Tombstones may name one another in a ring, so a path never comes back to itself."""
        job = self.jobs[job_id]
        below = (each for each in self.children(job_id) if each not in (*path, job_id))
        return (job.result == "open" and job.control != "acknowledged") or any(
            self.unfinished(each, (*path, job_id)) for each in below
        )

    def unfinished_below(self, job_id: str, path: tuple[str, ...] = ()) -> list[str]:
        """Every descendant that is unfinished."""
        path = (*path, job_id)
        children = [
            each for each in self.children(job_id) if each not in path and self.unfinished(each, path)
        ]
        return children + [one for each in children for one in self.unfinished_below(each, path)]

    def children(self, job_id: str) -> list[str]:
        return [each.job_id for each in self.jobs.values() if each.spec.parent == job_id]

    def children_unfinished(self, job_id: str) -> int:
        return sum(self.unfinished(each, (job_id,)) for each in self.children(job_id) if each != job_id)

    def job(self, job_id: str) -> dict[str, Any]:
        """The job as HTTP.md shows it, without times, ids and digests."""
        return show(self.jobs[job_id], self.now, self.children_unfinished(job_id))

    def receipts(self, job_id: str) -> list[tuple[int | None, str, str, str | None, int | None]]:
        """(seq, kind, status, event id, ordinal) of each receipt of the job, in order."""
        return [(r.seq, r.kind, r.status, r.event_id, r.ordinal) for r in self.jobs[job_id].receipts]
