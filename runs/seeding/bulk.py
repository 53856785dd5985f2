"""The hand that decides in memory, by the protocol's own tables, and writes many jobs at once.

What a command leaves behind is kept while a story is told (told.py); the rows are made at the end (rows.py),
a batch of jobs in a transaction. Its clock is its own: jobs lie spread over a month, up to now.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from random import Random
from typing import Any

from runs.permissions import Actor
from runs.protocol.asks import Checkpoint, Event
from runs.protocol.canonical import digest
from runs.protocol.decide import Decision, decide
from runs.protocol.fields import generation_of
from runs.protocol.states import Control, Job, Parent, Token, World
from runs.protocol.tables import TABLES

from .deck import Deck
from .people import Cast
from .receipts import receipt
from .rows import store
from .stories import BRIEF, LONG
from .told import Fence, Told

BATCH = 1000  #: jobs in one transaction
SPAN = timedelta(days=30)  #: over which the jobs began
ALIKE = 8  #: jobs to which the same happens, at other times: to decide is what takes long
LONGEST = timedelta(minutes=30)  #: that a story takes, unless it says when it began
LIFE = timedelta(hours=24)  #: of a proposal
LOST = "work_claim_lost"
TOKENED = ("reserve", "dispatch", "report", "release")
DECIDING = ("approve", "decline", "expire")


class Memory:
    """The jobs of the stories that are told and not yet stored."""

    def __init__(self, cast: Cast, rng: Random, now: datetime) -> None:
        self.cast, self.rng, self.now, self.clock, self.recent = cast, rng, now, now, False
        self.jobs: dict[str, Told] = {}

    # -- time -----------------------------------------------------------------------------------------------
    def begin(self, ago: timedelta) -> None:
        """A story begins, so long ago and a little longer."""
        self.clock, self.recent = self.now - LONGEST - ago, False

    def wait(self, by: timedelta) -> None:
        self.clock += by

    def recently(self) -> None:
        self.recent = True
        self.clock = max(self.clock, self.now - timedelta(seconds=self.rng.uniform(120, 900)))

    def alone(self) -> Told | None:
        """The job of the story just told, where the same may have happened to others, and earlier."""
        told = next(reversed(self.jobs.values()))
        return told if told.stands_alone and not self.recent else None

    # -- a command ------------------------------------------------------------------------------------------
    def do(self, who: str, job_id: str, ask: Any) -> dict[str, Any]:
        self.clock += timedelta(milliseconds=self.rng.randint(20, 4000))
        told = self.jobs.setdefault(job_id, Told(job_id, generation_of(job_id)))
        actor = self.cast.actors[who]
        decision = decide(TABLES[ask.kind], self._world(told, actor, ask), ask)
        fields = self._keep(told, actor, ask, decision)
        if decision.row.kept and told.job and told.job.control is Control.REQUESTED:
            later = replace(decision.after, job=_with_children(told))
            stop = decide(TABLES["checkpoint"], later, Checkpoint())
            if stop.row.kept:
                self._keep(told, self.cast.actors["system"], Checkpoint(), stop)
        return {"status": decision.row.status, **fields}

    def _world(self, told: Told, actor: Actor, ask: Any) -> World:
        spec = told.spec or ask.spec
        parent = self.jobs[spec.parent] if ask.kind == "submit" and told.job is None and spec.parent else None
        entered = told.proposals[ask.proposal] if ask.kind in DECIDING else told.open_proposal
        return World(
            now=self.clock,
            job=_with_children(told),
            sealed_generation=self.cast.tenant.sealed_generation,
            generation=told.generation,
            parent=Parent(open=parent.is_open, depth=parent.depth) if parent else None,
            token=_token(told.job, ask.claim) if ask.kind in TOKENED else Token(),
            reconcile_needs=self.cast.queues[spec.queue],
            proposal=replace(entered.now, own=entered.now.by == actor.name) if entered else None,
            actor_type=actor.type,
            actor=actor.name,
        )

    # -- what it leaves behind ------------------------------------------------------------------------------
    def _keep(self, told: Told, actor: Actor, ask: Any, decision: Decision) -> dict[str, Any]:
        before, after = told.job, decision.after.job
        fields, extra = self._besides(told, ask, decision)
        if before is None and after is not None:
            told.begin(ask.spec, self.jobs.get(ask.spec.parent or "") if after.admitted else None)
        told.job = after
        if decision.row.kept:
            if fields and isinstance(ask, Event):
                extra["answer"] = fields
            told.follow(receipt(self.cast, actor, ask, decision, extra, self.clock), before, actor)
        if ask.kind in TOKENED and before and after and after.lease_expires_at != before.lease_expires_at:
            told.heartbeat_at = self.clock
        if before and after and after.fence > before.fence:
            told.fences.append(self._fence(after, actor, ask, fields, "cause" in extra))
        if decision.row.status == "proposed":
            told.propose(decision.after, ask, fields["proposal"], LIFE, actor)
        elif decision.after.proposal and decision.after.proposal != decision.before.proposal:
            told.decide(decision.after.proposal, actor, self.clock)
        return fields

    def _besides(self, told: Told, ask: Any, decision: Decision) -> tuple[dict[str, Any], dict[str, Any]]:
        """The answer's fields, and what the receipt's detail holds beside the change."""
        fields, status, after = dict(decision.tells), decision.row.status, decision.after
        if status == "claimed":
            fields["claim"] = f"{after.at.fence}-{self.rng.getrandbits(128):032x}"
            return fields, {"cause": LOST} if decision.before.at.holder else {}
        if status == "lapsed":
            return fields, {"cause": LOST}
        if status == "proposed":
            fields["proposal"] = "p-" + digest([self.cast.tenant.name, told.job_id, after.at.seq])[:20]
            return fields, {"proposal": fields["proposal"]}
        if after.proposal and ask.kind in DECIDING:
            one = after.proposal
            named = {"proposal": one.id, "proposed_by": one.by}
            return fields, named | {"outcome": one.outcome, "proposal_state": one.state}
        return fields, {}

    def _fence(self, job: Job, actor: Actor, ask: Any, fields: dict[str, Any], took_over: bool) -> Fence:
        if ask.kind == "revoke":
            return Fence(job.fence, "", "", None, ask.cause, self.clock)
        token_hash = sha256(fields["claim"].encode()).hexdigest()
        return Fence(job.fence, job.holder, token_hash, actor.user_id, LOST if took_over else "", self.clock)


def _with_children(told: Told) -> Job | None:
    if told.job is None or not told.children:
        return told.job
    return replace(told.job, children_unfinished=sum(child.unfinished for child in told.children))


def _token(job: Job | None, claim: str) -> Token:
    """Every token here was issued: the hand itself made it."""
    fence = int(claim.partition("-")[0])
    return Token(fence, newest=job is not None and fence == job.fence)


def in_bulk(cast: Cast, jobs: int, seed: int, now: datetime) -> Iterator[int]:
    """`jobs` jobs of one tenant, stored a batch at a time; says after each how many there are."""
    memory = Memory(cast, Random(seed + 1), now)  # noqa: S311 (a seed is what is wanted)
    deck = Deck(cast, memory, seed, BRIEF + LONG)
    stored = 0
    while deck.told < jobs:
        alike = ALIKE if deck.rounds else 1
        memory.begin(ago=SPAN / alike * (1 - deck.told / jobs))
        deck.tell(at_most=jobs - deck.told)
        if told := memory.alone():
            for n in range(1, min(alike, jobs - deck.told + 1)):
                told.again(deck.new_id(), back=SPAN / alike * n)
        if deck.told - stored >= BATCH or deck.told >= jobs:
            store(cast.tenant, list(memory.jobs.values()))
            memory.jobs.clear()
            stored = deck.told
            yield stored
