"""The one code that says it all (docs/http.md, headline): derived, never stored."""

from .states import Control, Result, State


def headline(
    admitted: bool, control: Control, result: Result, current: State, paused: bool, too_late: bool
) -> str:
    """The first that applies, for a job whose step at the cursor is in state `current`."""
    if not admitted:
        return "blocked_before_start"
    if control == Control.ACKNOWLEDGED:
        return {
            Result.OPEN: "stopped",
            Result.SUCCEEDED: "completed_despite_cancel",
            Result.FAILED: "stopped_after_failure",
        }[result]
    if control == Control.REQUESTED:
        return {State.UNKNOWN: "verifying_unknown", State.INFLIGHT: "verifying"}.get(current, "stopping")
    if result != Result.OPEN:
        ended = "completed" if result == Result.SUCCEEDED else "failed"
        return f"{ended}_cancel_too_late" if too_late else ended
    if current == State.UNKNOWN:
        return "outcome_unknown"
    if current == State.INFLIGHT:
        return "working"
    return "paused" if paused else "ready"
