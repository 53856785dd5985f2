"""What an engine's own state of a job may say, of what the board says."""

from typing import Any

import pytest

from runs.adapters.engines import JobFailed, NotSettled, result_of, stopped
from runs.worker import Ended, How


def job(control: str, result: str) -> dict[str, Any]:
    return {"control": control, "result": result, "steps": [{"value": '"250 queued"'}]}


@pytest.mark.parametrize("control", ["run", "requested", "acknowledged"])
@pytest.mark.parametrize("result", ["open", "succeeded", "failed"])
def test_cancelled_is_said_only_of_a_confirmed_stop_of_what_came_to_no_end(control: str, result: str) -> None:
    """A success that came after the cancel is kept: its result is the task's."""
    assert stopped(job(control, result)) == ((control, result) == ("acknowledged", "open"))


def test_the_last_calls_result_is_kept_after_a_cancel_too() -> None:
    assert result_of("j", Ended(How.FINISHED), job("acknowledged", "succeeded")) == "250 queued"


@pytest.mark.parametrize(("result", "error"), [("failed", JobFailed), ("open", NotSettled)])
def test_what_is_no_success_is_none(result: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        result_of("j", Ended(How.UNKNOWN), job("run", result))
