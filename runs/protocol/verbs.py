"""What rows do: each verb takes the world and what was asked, and returns the world after."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from .states import Cancel, Control, Job, Result, State, Step, Testimony, World

LOST_CLAIMS = 1_000_000  #: more than one job can have had since its backup
BLANK = {
    "reserved_by": None,
    "attempt": None,
    "dispatched_at": None,
    "dispatch_attempt": None,
    "said_unknown": False,
}


def store(w: World, ask: Any) -> World:
    """Admit the job with all its steps."""
    return replace(w, job=_from_spec(ask.spec, admitted=True))


def bury(w: World, ask: Any) -> World:
    """Keep the job as a tombstone, so that it is refused whenever it comes."""
    job = _from_spec(ask.spec, admitted=False)
    buried = replace(job, control=Control.ACKNOWLEDGED, cancel=_cancel(w, ask, seq=1))
    return replace(w, job=buried)


def _from_spec(spec: Any, admitted: bool) -> Job:
    steps = {ordinal: Step(content=step.model_dump()) for ordinal, step in enumerate(spec.steps)}
    return Job(
        n_steps=len(spec.steps),
        marked=spec.dispatch == "marked",
        digest=spec.digest,
        admitted=admitted,
        steps=steps,
    )


def _cancel(w: World, ask: Any, seq: int) -> Cancel:
    grace_until = w.now + timedelta(seconds=ask.grace_seconds)
    return Cancel(seq, ask.cause, ask.note, ask.asked_by, w.actor, w.now, grace_until)


def count_blocked(w: World, ask: Any) -> World:
    return w.becomes(blocked_submits=w.at.blocked_submits + 1, blocked_at=w.now)


def request_stop(w: World, ask: Any) -> World:
    return w.becomes(control=Control.REQUESTED, cancel=_cancel(w, ask, w.at.seq + 1))


def remember_too_late(w: World, ask: Any) -> World:
    """The first cancel that came too late is kept; later ones only have their receipts."""
    return w if w.at.too_late else w.becomes(too_late=True, cancel=_cancel(w, ask, w.at.seq + 1))


def confirm_stop(w: World, ask: Any) -> World:
    return w.becomes(control=Control.ACKNOWLEDGED)


def pause(w: World, ask: Any) -> World:
    return w.becomes(paused_at=w.now, paused_seq=w.at.seq + 1, paused_cause=ask.cause)


def resume(w: World, ask: Any) -> World:
    return w.becomes(paused_at=None, paused_seq=None, paused_cause="")


def take_claim(w: World, ask: Any) -> World:
    """A new holder under the next fence; what the last one had out is judged by section 5."""
    w = _leave_behind(w)
    return w.becomes(
        fence=w.at.fence + 1,
        holder=ask.worker,
        lease_seconds=ask.ttl_seconds,
        lease_expires_at=w.now + timedelta(seconds=ask.ttl_seconds),
    )


def take_away_claim(w: World, ask: Any) -> World:
    w = _leave_behind(w)
    return w.becomes(fence=w.at.fence + 1, holder="", lease_expires_at=None)


def doubt(w: World, ask: Any) -> World:
    """Commits are lost: the next step may have been reserved and sent by a claim that nobody knows of, unless
    a cancel that is still here forbade it. The fence goes past every one that can have been given meanwhile.
    """
    if w.at.control is Control.RUN and w.at.current in (State.PENDING, State.INFLIGHT):
        w = w.becomes(current=State.UNKNOWN)
    else:
        w = _leave_behind(w)
    return w.becomes(fence=w.at.fence + LOST_CLAIMS, holder="", lease_expires_at=None)


def _leave_behind(w: World) -> World:
    """Section 5, second row: unsent for certain only where its mark is required, missing, and now out of
    reach."""
    if w.at.current is not State.INFLIGHT:
        return w
    if w.at.marked and not w.at.now_at.marked:
        return _back_to_pending(w, w.at.position)
    return w.becomes(current=State.UNKNOWN)


def _back_to_pending(w: World, ordinal: int, **facts: Any) -> World:
    return w.step_becomes(ordinal, **BLANK, **facts).becomes(current=State.PENDING)


def renew_lease(w: World, ask: Any) -> World:
    return w.becomes(lease_expires_at=w.now + timedelta(seconds=w.at.lease_seconds))


def take_heard(w: World, ask: Any) -> World:
    """The signal whose receipt has this number was heard; the first time counts, also when the word of an
    earlier signal comes again after a later one."""
    signals = (w.at.cancel.seq if w.at.cancel else None, w.at.escalated_seq, w.at.paused_seq)
    if ask.heard is None or ask.heard not in signals or ask.heard <= (w.at.heard_seq or 0):
        return w
    return w.becomes(heard_seq=ask.heard, heard_at=w.now)


def hand_out(w: World, ask: Any) -> World:
    """The next step goes out, under this claim's fence and this attempt."""
    ordinal, facts = w.at.position, {**BLANK, "reserved_by": w.token.fence, "attempt": ask.attempt}
    return w.step_becomes(ordinal, **facts, put_back=False).becomes(current=State.INFLIGHT)


def mark(w: World, ask: Any) -> World:
    return w.step_becomes(ask.ordinal, dispatched_at=w.now, dispatch_attempt=ask.attempt)


def put_back(w: World, ask: Any) -> World:
    """It was not sent: by its own worker's word, or because it can no longer be marked."""
    return _back_to_pending(w, w.at.position)


def lapse_back(w: World, ask: Any) -> World:
    return _back_to_pending(w, w.at.position, put_back=True)


def become_unknown(w: World, ask: Any) -> World:
    return w.becomes(current=State.UNKNOWN)


def said_unknown(w: World, ask: Any) -> World:
    """It is this step's own claim that does not know, so others may settle it while its lease still runs."""
    own = w.at.steps[ask.ordinal].reserved_by == w.token.fence
    return w.step_becomes(ask.ordinal, said_unknown=True) if own else w


def settle(w: World, ask: Any) -> World:
    return _settle(w, ask.ordinal, ask.outcome, ask.value)


def settle_as_proposed(w: World, ask: Any) -> World:
    assert w.proposal is not None
    return _settle(w, w.proposal.ordinal, w.proposal.outcome, w.proposal.value)


def _settle(w: World, ordinal: int, outcome: str, value: str) -> World:
    """The step is final, and with it the job when it was the last, or did not happen (I3, I4)."""
    step, job = w.at.steps[ordinal], w.at
    no_mark = outcome == "ok" and job.marked and not step.marked
    contradicted = any(contradicts(outcome, value, said.outcome, said.value) for said in step.testimony)
    w = w.step_becomes(ordinal, value=value, no_mark=no_mark, disputed=step.disputed or contradicted)
    if outcome == "rejected":
        return w.becomes(current=State.REJECTED, result=Result.FAILED)
    last = ordinal + 1 == job.n_steps
    after = State.OK if last else State.PENDING
    return w.becomes(position=ordinal + 1, current=after, result=Result.SUCCEEDED if last else job.result)


def contradicts(outcome: str, value: str, said: str, said_value: str) -> bool:
    """Two words on one step that cannot both be true (section 6); `unknown` contradicts nothing."""
    if said == "unknown":
        return False
    return said != outcome or bool(value and said_value and value != said_value)


def testify(w: World, ask: Any) -> World:
    step = w.at.steps[ask.ordinal]
    return w.step_becomes(ask.ordinal, testimony=(*step.testimony, Testimony(ask.outcome, ask.value)))


def dispute(w: World, ask: Any) -> World:
    return w.step_becomes(ask.ordinal, disputed=True)


def dispute_if_contradicted(w: World, ask: Any) -> World:
    outcome, value = w.at.state(ask.ordinal), w.at.steps[ask.ordinal].value or ""
    return dispute(w, ask) if contradicts(outcome, value, ask.outcome, ask.value) else w


def close_dispute(w: World, ask: Any) -> World:
    """Clears the flag and the testimony's claim on it, not the records."""
    return w.step_becomes(ask.ordinal, disputed=False, testimony=())


def escalate(w: World, ask: Any) -> World:
    return w.becomes(escalated_seq=w.at.seq + 1)


def raise_seal(w: World, ask: Any) -> World:
    return replace(w, sealed_generation=ask.generation)


def proposal_becomes(state: str) -> Any:
    def verb(w: World, ask: Any) -> World:
        assert w.proposal is not None
        own = w.proposal.own and state == "declined"
        return replace(w, proposal=replace(w.proposal, state="withdrawn" if own else state))

    return verb
