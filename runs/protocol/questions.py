"""The questions that rows ask: each takes the world and what was asked, and changes nothing."""

from typing import Any

from .evidence import counts
from .states import ActorType, Control, Result, State, World


def otherwise(w: World, ask: Any) -> bool:
    return True


def unknown_job(w: World, ask: Any) -> bool:
    return w.job is None


def sealed_away(w: World, ask: Any) -> bool:
    """No such job, and its generation is sealed: there never will be."""
    return w.job is None and w.generation <= w.sealed_generation


def tombstone(w: World, ask: Any) -> bool:
    return w.job is not None and not w.job.admitted


def wrong_queue(w: World, ask: Any) -> bool:
    """No such job, and its id's prefix and the spec's queue do not belong together."""
    return w.job is None and w.wrong_queue


def another_spec(w: World, ask: Any) -> bool:
    digest = ask.spec.digest if ask.kind == "submit" else ask.digest
    return w.job is not None and w.job.digest != digest


def only_a_digest(w: World, ask: Any) -> bool:
    return w.job is None and ask.spec is None


def known(w: World, ask: Any) -> bool:
    return w.job is not None


def parent_missing(w: World, ask: Any) -> bool:
    return w.parent is not None and not w.parent.visible


def parent_closed(w: World, ask: Any) -> bool:
    return w.parent is not None and not w.parent.open


def too_deep(w: World, ask: Any) -> bool:
    return w.parent is not None and w.parent.depth >= 8


def not_running(w: World, ask: Any) -> bool:
    return w.at.control is not Control.RUN


def no_cancel(w: World, ask: Any) -> bool:
    return w.at.control is Control.RUN


def acknowledged(w: World, ask: Any) -> bool:
    return w.at.control is Control.ACKNOWLEDGED


def result_final(w: World, ask: Any) -> bool:
    return w.at.result is not Result.OPEN


def nothing_to_run(w: World, ask: Any) -> bool:
    return result_final(w, ask) or acknowledged(w, ask)


def not_stoppable(w: World, ask: Any) -> bool:
    return result_final(w, ask) or not_running(w, ask)


def paused(w: World, ask: Any) -> bool:
    return w.at.paused_at is not None


def not_paused(w: World, ask: Any) -> bool:
    return w.at.paused_at is None


def claim_live(w: World, ask: Any) -> bool:
    return w.at.lease_is_live(w.now)


def no_holder(w: World, ask: Any) -> bool:
    return not w.at.holder


def token_stale(w: World, ask: Any) -> bool:
    """Not the newest token of the job; a token never issued is not the newest either."""
    return not w.token.newest


def token_never_issued(w: World, ask: Any) -> bool:
    return w.token.fence == 0


def unmarked_job(w: World, ask: Any) -> bool:
    return not w.at.marked


def no_such_step(w: World, ask: Any) -> bool:
    return not 0 <= ask.ordinal < w.at.n_steps


def step_pending(w: World, ask: Any) -> bool:
    """Nothing was handed out under this ordinal, or it came back by section 5."""
    return w.at.state(ask.ordinal) is State.PENDING


def step_settled(w: World, ask: Any) -> bool:
    return w.at.state(ask.ordinal) in (State.OK, State.REJECTED)


def step_not_inflight(w: World, ask: Any) -> bool:
    return no_such_step(w, ask) or w.at.state(ask.ordinal) is not State.INFLIGHT


def step_marked(w: World, ask: Any) -> bool:
    return w.at.steps[ask.ordinal].marked


def marked_by_this_attempt(w: World, ask: Any) -> bool:
    step = w.at.steps[ask.ordinal]
    return step.marked and ask.attempt is not None and step.dispatch_attempt == ask.attempt


def reserved_under_another_attempt(w: World, ask: Any) -> bool:
    step = w.at.steps[ask.ordinal]
    return not step.marked and step.attempt != ask.attempt


def reserved_by_this_attempt(w: World, ask: Any) -> bool:
    """A step is out, not marked, and it is this claim's own reservation under the attempt that it names
    again."""
    if w.at.current is not State.INFLIGHT or ask.attempt is None:
        return False
    step = w.at.now_at
    return not step.marked and step.reserved_by == w.token.fence and step.attempt == ask.attempt


def step_out(w: World, ask: Any) -> bool:
    return w.at.current is State.INFLIGHT


def step_unknown(w: World, ask: Any) -> bool:
    return w.at.current is State.UNKNOWN


def next_step_disputed(w: World, ask: Any) -> bool:
    return w.at.now_at.disputed


def may_have_been_sent(w: World, ask: Any) -> bool:
    """A step that is pending is said to have been sent, by a claim whose word is testimony by now."""
    is_stale = token_stale(w, ask) or w.at.steps[ask.ordinal].put_back
    says_sent: bool = ask.outcome in ("ok", "unknown")
    return is_stale and says_sent and step_pending(w, ask)


def says_unknown(w: World, ask: Any) -> bool:
    return bool(ask.outcome == "unknown")


def evidence_does_not_count(w: World, ask: Any) -> bool:
    reserved_by = w.at.steps[ask.ordinal].reserved_by
    own = ask.kind == "report" and reserved_by is not None and reserved_by == w.token.fence
    return not counts(ask.evidence_kind, ask.outcome, own)


def not_to_be_settled(w: World, ask: Any) -> bool:
    """No such step, or one that was never out: unless it is disputed and next in line in an open job."""
    if no_such_step(w, ask):
        return True
    return step_pending(w, ask) and not _disputed_and_next(w, ask)


def _disputed_and_next(w: World, ask: Any) -> bool:
    next_in_line = w.at.position == ask.ordinal and w.at.result is Result.OPEN
    return next_in_line and step_pending(w, ask) and w.at.steps[ask.ordinal].disputed


def still_claimed(w: World, ask: Any) -> bool:
    """The claim that reserved the step may still act on it, so nobody else's finding can be final."""
    if step_pending(w, ask):
        return False  # disputed and next in line: nobody has it
    step = w.at.steps[ask.ordinal]
    unsent_yet = w.at.marked and step_out(w, ask) and not step.marked
    held = step.reserved_by == w.at.fence and claim_live(w, ask) and not step.said_unknown
    return unsent_yet or held


def verifier(w: World) -> bool:
    return w.actor_type is ActorType.VERIFIER


def waits_for_second_person(w: World, ask: Any) -> bool:
    return not verifier(w) and w.proposal is not None and w.proposal.is_open(w.at, w.now)


def needs_second_person(w: World, ask: Any) -> bool:
    by_rule = w.reconcile_needs == "2" or (w.reconcile_needs != "1" and ask.outcome == "rejected")
    return by_rule and not verifier(w)


def proposal_decided(w: World, ask: Any) -> bool:
    return w.proposal is not None and w.proposal.state in ("approved", "declined", "withdrawn")


def proposal_expired(w: World, ask: Any) -> bool:
    return w.proposal is not None and w.now >= w.proposal.expires_at


def proposal_ends(w: World, ask: Any) -> bool:
    """Still undecided, and its day is over: a second settle loop finds it expired already."""
    return w.proposal is not None and w.proposal.state == "open" and proposal_expired(w, ask)


def proposal_superseded(w: World, ask: Any) -> bool:
    return w.proposal is not None and not w.proposal.is_open(w.at, w.now)


def not_disputed(w: World, ask: Any) -> bool:
    return no_such_step(w, ask) or not w.at.steps[ask.ordinal].disputed


def already_sealed(w: World, ask: Any) -> bool:
    return bool(ask.generation <= w.sealed_generation)


def children_unfinished(w: World, ask: Any) -> bool:
    return w.at.children_unfinished > 0


def lapse_leaves_unknown(w: World, ask: Any) -> bool:
    """The lease has ended over a step that may have been sent (section 5)."""
    return _lapsed_inflight(w) and (not w.at.marked or w.at.now_at.marked)


def lapse_puts_back(w: World, ask: Any) -> bool:
    """The lease has ended over a step without its mark, and after a cancel dispatch will refuse to mark
    it."""
    return _lapsed_inflight(w) and w.at.marked and not w.at.now_at.marked and not_running(w, ask)


def _lapsed_inflight(w: World) -> bool:
    return w.at.current is State.INFLIGHT and not w.at.lease_is_live(w.now)


def grace_over(w: World, ask: Any) -> bool:
    job = w.at
    return bool(
        job.control is Control.REQUESTED
        and job.cancel
        and job.escalated_seq is None
        and job.unsettled is not None
        and w.now >= job.cancel.grace_until
    )
