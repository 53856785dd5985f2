"""The worker against the real server: the tests that a wrong contract on either side would break."""

from tests.worker.test_cancel import (
    test_a_cancel_after_the_dispatch_leaves_unknown_where_the_tool_stops,
    test_a_cancel_is_heard_while_the_step_runs_and_what_happened_is_kept,
    test_a_marked_step_that_is_told_to_stop_before_it_is_sent_is_released,
    test_a_pause_that_becomes_a_cancel_ends_the_run,
)
from tests.worker.test_claims import (
    test_a_lost_claim_reaches_the_step_and_its_late_result_is_kept_as_testimony,
    test_a_tombstone_is_not_worked_on,
    test_after_a_crash_past_dispatch_a_marked_step_is_not_sent_again,
)
from tests.worker.test_lost_answers import (
    test_a_reserve_that_comes_late_and_takes_the_next_step_does_not_strand_it,
    test_the_server_restarts_while_an_effect_is_out,
)
from tests.worker.test_outcomes import test_a_refusal_is_rejected_with_who_refused

__all__ = [
    "test_a_cancel_after_the_dispatch_leaves_unknown_where_the_tool_stops",
    "test_a_cancel_is_heard_while_the_step_runs_and_what_happened_is_kept",
    "test_a_lost_claim_reaches_the_step_and_its_late_result_is_kept_as_testimony",
    "test_a_marked_step_that_is_told_to_stop_before_it_is_sent_is_released",
    "test_a_pause_that_becomes_a_cancel_ends_the_run",
    "test_a_refusal_is_rejected_with_who_refused",
    "test_a_reserve_that_comes_late_and_takes_the_next_step_does_not_strand_it",
    "test_a_tombstone_is_not_worked_on",
    "test_after_a_crash_past_dispatch_a_marked_step_is_not_sent_again",
    "test_the_server_restarts_while_an_effect_is_out",
]
