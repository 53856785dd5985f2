"""What is true of every change: laws over one decision, its job before and after, whatever row decided.

Each law is written from a sentence of protocol.md and knows nothing of the rows' questions and verbs.
"""

from dataclasses import replace
from typing import Any

from runs.protocol.decide import Decision
from runs.protocol.states import Control, Result, State

from .between import Between, Law
from .disputes import DISPUTES
from .settling import SETTLING
from .standing import FINAL, UNSETTLED
from .telling import TELLING

CONTROLS = (Control.RUN, Control.REQUESTED, Control.ACKNOWLEDGED)


def a_refusal_changes_nothing(c: Between) -> bool:
    """Control, result, step states, values and the fence stay, whatever is refused (section 4)."""
    return c.code < 400 or (c.nothing_happened and c.before.fence == c.after.fence)


def control_never_goes_back(c: Between) -> bool:
    return CONTROLS.index(c.after.control) >= CONTROLS.index(c.before.control)


def a_final_result_stays(c: Between) -> bool:
    return c.before.result is Result.OPEN or c.after.result is c.before.result


def a_settled_step_stays(c: Between) -> bool:
    was_final = [n for n, state in enumerate(c.was) if state in FINAL]
    return all(c.now[n] is c.was[n] and c.after.steps[n].value == c.before.steps[n].value for n in was_final)


def nothing_starts_after_a_cancel(c: Between) -> bool:
    started = c.newly_marked or (State.PENDING in [was for _, was in c.moved_to(State.INFLIGHT)])
    return c.before.control is Control.RUN or not started


def a_stale_token_moves_nothing(c: Between) -> bool:
    """Nor does it renew a lease or set a mark."""
    is_stale = hasattr(c.ask, "claim") and not c.token.newest
    is_same = c.nothing_happened and c.before.lease_expires_at == c.after.lease_expires_at
    return not is_stale or (is_same and not c.newly_marked)


def no_receipt_no_change(c: Between) -> bool:
    """Without a receipt only lease, heard and counters change (I9)."""
    fluid = ("lease_expires_at", "heard_seq", "heard_at", "blocked_submits", "blocked_at")
    return c.kept or replace(c.before, **{name: getattr(c.after, name) for name in fluid}) == c.after


def receipts_count_up(c: Between) -> bool:
    return c.after.seq == c.before.seq + c.kept


def only_section_5_goes_back_to_pending(c: Between) -> bool:
    """Never from unknown, in an unmarked job, past a mark, or by a lapse while control = run."""
    ways = {"released", "claimed", "revoked"} | (
        set() if c.before.control is Control.RUN else {"lapsed", "cancelled"}
    )
    return all(
        was is State.INFLIGHT and c.before.marked and not c.before.steps[n].marked and c.status in ways
        for n, was in c.moved_to(State.PENDING)
    )


def a_mark_is_for_ever(c: Between) -> bool:
    return all(c.after.steps[n].marked for n, step in c.before.steps.items() if step.marked)


def only_a_missing_worker_or_its_word_is_unknown(c: Between) -> bool:
    ways = {"unresolved", "lapsed", "claimed", "revoked"}
    return all(was is State.INFLIGHT and c.status in ways for _, was in c.moved_to(State.UNKNOWN))


def a_lost_claim_leaves_nothing_inflight(c: Between) -> bool:
    return c.status not in ("claimed", "revoked") or State.INFLIGHT not in c.now


def a_step_is_handed_out_only_where_one_may_start(c: Between) -> bool:
    out = [n for n, _ in c.moved_to(State.INFLIGHT)]
    may_start = not c.is_over and c.before.paused_at is None and not UNSETTLED & set(c.was) and c.token.newest
    first = c.was.index(State.PENDING) if State.PENDING in c.was else None
    return not out or (may_start and out == [first] and not c.before.steps[out[0]].disputed)


def a_mark_is_given_to_one_attempt_only(c: Between) -> bool:
    may_mark = c.before.marked and c.token.newest
    return all(
        may_mark and c.was[n] is State.INFLIGHT and c.before.steps[n].attempt == c.ask.attempt
        for n in c.newly_marked
    )


def fences_only_grow(c: Between) -> bool:
    return c.after.fence == c.before.fence + (c.status in ("claimed", "revoked"))


def an_accepted_worker_holds_the_fence(c: Between) -> bool:
    """I12."""
    is_accepted = c.code < 400 and c.kept and hasattr(c.ask, "claim")
    return not is_accepted or c.token.fence == c.before.fence


def a_live_claim_is_taken_by_nobody(c: Between) -> bool:
    return c.status != "claimed" or not c.before.lease_is_live(c.world.now)


def what_a_job_is_never_changes(c: Between) -> bool:
    same = ("n_steps", "marked", "digest", "admitted", "children_unfinished")
    return all(getattr(c.before, name) == getattr(c.after, name) for name in same)


def the_first_cancel_stands(c: Between) -> bool:
    return c.before.cancel is None or c.after.cancel is c.before.cancel


def a_pause_is_history_after_the_end(c: Between) -> bool:
    is_same = c.before.paused_at == c.after.paused_at
    return is_same or (not c.is_over and c.status in ("paused", "resumed"))


LAWS: tuple[Law, ...] = (
    a_refusal_changes_nothing,
    control_never_goes_back,
    a_final_result_stays,
    a_settled_step_stays,
    nothing_starts_after_a_cancel,
    a_stale_token_moves_nothing,
    no_receipt_no_change,
    receipts_count_up,
    only_section_5_goes_back_to_pending,
    a_mark_is_for_ever,
    only_a_missing_worker_or_its_word_is_unknown,
    a_lost_claim_leaves_nothing_inflight,
    a_step_is_handed_out_only_where_one_may_start,
    a_mark_is_given_to_one_attempt_only,
    fences_only_grow,
    an_accepted_worker_holds_the_fence,
    a_live_claim_is_taken_by_nobody,
    what_a_job_is_never_changes,
    the_first_cancel_stands,
    a_pause_is_history_after_the_end,
    *SETTLING,
    *DISPUTES,
    *TELLING,
)


def broken(ask: Any, made: Decision) -> list[str]:
    """The laws that a decision on a known job breaks."""
    if made.before.job is None or made.after.job is None:
        return []
    change = Between(ask, made, made.before.job, made.after.job)
    return [law.__name__ for law in LAWS if not law(change)]
