"""The stories of the blocking worker that a second driver could tell otherwise."""

# ruff: noqa: F401
from tests.worker.test_cancel import (
    test_a_cancel_after_the_dispatch_leaves_unknown_where_the_tool_stops,
    test_a_cancel_is_heard_while_the_step_runs_and_what_happened_is_kept,
    test_a_lost_heartbeat_costs_time_never_the_signal,
    test_a_marked_step_that_is_told_to_stop_before_it_is_sent_is_released,
    test_a_pause_that_becomes_a_cancel_ends_the_run,
    test_a_permission_that_comes_back_after_the_cancel_is_not_used,
    test_a_stop_that_was_confirmed_at_once_is_still_heard,
    test_dispatch_refuses_after_a_cancel_that_no_heartbeat_told,
    test_the_worker_says_that_it_heard,
)
from tests.worker.test_claims import (
    test_a_lost_claim_reaches_the_step_and_its_late_result_is_kept_as_testimony,
    test_a_stale_worker_does_not_get_past_dispatch,
    test_a_step_that_stops_for_a_lost_claim_settles_nothing,
    test_the_second_worker_waits_for_the_dead_one_s_lease,
)
from tests.worker.test_limits import (
    test_a_caller_s_token_stops_the_runs_under_it,
    test_a_step_past_its_limit_is_told_and_the_run_ends,
)
from tests.worker.test_lost_answers import (
    test_a_fault_on_any_command_changes_nothing_that_happens,
    test_a_reserve_that_comes_late_and_takes_the_next_step_does_not_strand_it,
)
from tests.worker.test_outcomes import (
    test_a_function_that_says_nothing_is_unknown,
    test_a_refusal_is_rejected_with_who_refused,
    test_an_exception_before_dispatch_releases_a_marked_step,
    test_one_dispatch_permits_one_send,
)
