"""A job's life told on the pure core: one world, its clock, and a short word for each command.

It is no second implementation: every word goes to the tables through `carried_out`, and what runs/commands
keeps beside them (tokens, the newest proposal) is kept here as it is kept there. Everybody may do everything.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from runs.protocol import asks
from runs.protocol.decide import Decision
from runs.protocol.evidence import Evidence
from runs.protocol.headline import headline
from runs.protocol.spec import Spec
from runs.protocol.states import ActorType, Job, Proposal, State, Step, Token, World

from .composed import carried_out
from .shapes import a_spec

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
NEVER_ISSUED = 0


@dataclass(frozen=True)
class Told:
    """An answer; `words` are the statuses of the whole transaction, `detail` what the receipt tells."""

    status: str
    code: int
    kept: bool
    tells: dict[str, Any]
    words: list[str]
    detail: dict[str, Any]


class Story:
    def __init__(
        self, *steps: str, dispatch: Any = "unmarked", needs: str = "1", generation: int = 0
    ) -> None:
        self.spec = a_spec(*(steps or ("mail", "book")), owner="customer-1", dispatch=dispatch)
        self.world = World(now=NOON, reconcile_needs=needs, generation=generation)
        self.issued: set[int] = set()
        self.proposal: Proposal | None = None

    # -- how things are -----------------------------------------------------------------------------------
    @property
    def job(self) -> Job:
        return self.world.at

    @property
    def headline(self) -> str:
        job = self.job
        return headline(
            job.admitted, job.control, job.result, job.current, job.paused_at is not None, job.too_late
        )

    def state(self, ordinal: int) -> State:
        return self.job.state(ordinal)

    def step(self, ordinal: int) -> Step:
        return self.job.steps[ordinal]

    def wait(self, seconds: float) -> None:
        self.world = replace(self.world, now=self.world.now + timedelta(seconds=seconds))

    # -- what is said -------------------------------------------------------------------------------------
    def say(self, ask: Any, claim: int | None = None, **facts: Any) -> Told:
        """One command in one transaction; `facts` are the world's for this once."""
        known = replace(self.world, token=self._token(claim), proposal=self._proposal_for(ask), **facts)
        made = carried_out(known, ask)
        for asked, decision in made:
            self._keep(asked, decision)
        self.world = replace(
            self.world, job=made[-1][1].after.job, sealed_generation=made[-1][1].after.sealed_generation
        )
        asked = next(decision for each, decision in made if each is ask)
        words = [decision.row.status for _, decision in made]
        return Told(asked.row.status, asked.row.code, asked.row.kept, asked.tells, words, asked.detail)

    def _token(self, claim: int | None) -> Token:
        if claim not in self.issued or claim is None:
            return Token()
        return Token(claim, newest=claim == self.job.fence)

    def _proposal_for(self, ask: Any) -> Proposal | None:
        found = self.proposal
        if ask.kind == "reconcile":
            return found if found and found.ordinal == ask.ordinal and found.state == "open" else None
        return found

    def _keep(self, ask: Any, made: Decision) -> None:
        if made.row.status == "claimed":
            self.issued.add(made.after.at.fence)
        if made.row.status == "proposed":
            version = made.after.at.steps[ask.ordinal].version
            day_after = self.world.now + timedelta(hours=24)
            self.proposal = Proposal("p", ask.ordinal, ask.outcome, ask.value, version, "open", day_after)
        elif ask.kind in ("approve", "decline", "expire"):
            self.proposal = made.after.proposal

    # -- callers ------------------------------------------------------------------------------------------
    def submit(self, spec: Spec | None = None, **facts: Any) -> Told:
        return self.say(asks.Submit(job_id="order-7", spec=spec or self.spec), **facts)

    def cancel(self, spec: Spec | None = None, **words: Any) -> Told:
        return self.say(asks.Cancel(event_id="c", spec=spec or self.spec, **words))

    # -- workers ------------------------------------------------------------------------------------------
    def claim(self, worker: str = "w1") -> int:
        assert self.say(asks.Claim(worker=worker)).status == "claimed"
        return self.job.fence

    def reserve(self, claim: int, attempt: str | None = None) -> Told:
        return self.say(asks.Reserve(claim="t", attempt=attempt), claim)

    def dispatch(self, claim: int, ordinal: int = 0, attempt: str | None = None) -> Told:
        return self.say(asks.Dispatch(claim="t", ordinal=ordinal, attempt=attempt), claim)

    def report(
        self, claim: int, ordinal: int, outcome: Any, value: str = "", kind: str | None = None
    ) -> Told:
        kind = kind or ("worker_refused" if outcome == "rejected" else None)
        evidence = {"kind": kind, "text": "as the tool said"} if kind else None
        words = {"ordinal": ordinal, "outcome": outcome, "value": value, "evidence": evidence}
        return self.say(asks.Report.model_validate({"event_id": "r", "claim": "t", **words}), claim)

    def release(self, claim: int, ordinal: int = 0) -> Told:
        return self.say(asks.Release(event_id="l", claim="t", ordinal=ordinal), claim)

    def heartbeat(self, claim: int, heard: int | None = None) -> Told:
        return self.say(asks.Heartbeat(claim="t", heard=heard), claim)

    # -- staff --------------------------------------------------------------------------------------------
    def revoke(self) -> Told:
        return self.say(asks.Revoke(event_id="v"))

    def pause(self, cause: str = "paused_by_user") -> Told:
        return self.say(asks.Pause(event_id="p", cause=cause))

    def resume(self) -> Told:
        return self.say(asks.Resume(event_id="u"))

    def observe(self, ordinal: int) -> Told:
        return self.say(
            asks.Observe(event_id="o", ordinal=ordinal, evidence=Evidence(kind="not_found", text="-"))
        )

    def reconcile(
        self, ordinal: int, outcome: Any, value: str = "", kind: str = "", by: str = "person"
    ) -> Told:
        kind = kind or ("receiver_confirmed" if outcome == "ok" else "receiver_refused")
        words = {
            "ordinal": ordinal,
            "outcome": outcome,
            "value": value,
            "evidence": {"kind": kind, "text": "seen"},
        }
        return self.say(asks.Reconcile.model_validate({"event_id": "n", **words}), actor_type=ActorType(by))

    def approve(self) -> Told:
        return self.say(asks.Approve(event_id="a", proposal="p"))

    def decline(self) -> Told:
        return self.say(asks.Decline(event_id="d", proposal="p"))

    def close_dispute(self, ordinal: int) -> Told:
        return self.say(asks.CloseDispute(event_id="k", ordinal=ordinal, note="looked into"))

    # -- the clock ----------------------------------------------------------------------------------------
    def checkpoint(self) -> Told:
        return self.say(asks.Checkpoint())

    def lapse(self) -> Told:
        return self.say(asks.Lapse())

    def escalate(self) -> Told:
        return self.say(asks.Escalate())

    def expire(self) -> Told:
        return self.say(asks.Expire(proposal="p"))
