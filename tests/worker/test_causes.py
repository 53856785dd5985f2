"""`cause_of`: why something stopped, and the three fallbacks (docs/protocol.md, section 8)."""

import asyncio
import concurrent.futures
import socket
import subprocess
import sys
from collections.abc import Callable

import httpx
import pytest

from runs.causes import BUILT_IN
from runs.worker import Cancelled, CancelToken, Cause, Ended, How, cause_of, causes

GOAL = Cause("goal_met", "Goal met", "Enough was found.")


def raised(fails: Callable[[], object]) -> BaseException:
    try:
        fails()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def wrapped() -> None:
    try:
        raise Cancelled(GOAL)
    except Cancelled as told:
        raise RuntimeError("the tool gave up") from told


def while_handling() -> None:
    try:
        raise Cancelled(GOAL)
    except Cancelled:
        raise ValueError("and the clean-up failed")  # noqa: B904 (that is the case)


def out_of_a_group() -> None:
    raise BaseExceptionGroup("two", [ValueError("x"), ExceptionGroup("one", [Cancelled(GOAL)])])


def a_task_cancelled_with(*args: object) -> Callable[[], None]:
    async def waits() -> None:
        task = asyncio.ensure_future(asyncio.sleep(60))
        await asyncio.sleep(0)
        task.cancel(*args)
        await task

    return lambda: asyncio.run(waits())


@pytest.mark.parametrize(
    "fails", [wrapped, while_handling, out_of_a_group, a_task_cancelled_with(GOAL)], ids=lambda f: f.__name__
)
def test_a_name_is_found_wherever_it_was_given(fails: Callable[[], object]) -> None:
    assert cause_of(raised(fails)) == GOAL


def a_deadline_of_asyncio() -> None:
    async def waits() -> None:
        async with asyncio.timeout(0):
            await asyncio.sleep(60)

    asyncio.run(waits())


def a_deadline_of_a_process() -> None:
    subprocess.run([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.01)


def a_deadline_of_httpx() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        httpx.get(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.05)


@pytest.mark.parametrize(
    "fails", [a_deadline_of_asyncio, a_deadline_of_a_process, a_deadline_of_httpx], ids=lambda f: f.__name__
)
def test_a_deadline_without_a_name(fails: Callable[[], object]) -> None:
    assert cause_of(raised(fails)).code == "deadline_exceeded"


@pytest.mark.parametrize("error", [asyncio.CancelledError(), concurrent.futures.CancelledError()])
def test_a_cancel_without_a_name(error: BaseException) -> None:
    assert cause_of(error).code == "canceled_no_cause"
    assert cause_of(raised(a_task_cancelled_with())).code == "canceled_no_cause"


@pytest.mark.parametrize(
    ("error", "short", "text"),
    [
        (ValueError("x" * 90 + "\nmore"), "x" * 80, "x" * 90 + "\nmore"),
        (ValueError("\n  first\nsecond"), "first", "\n  first\nsecond"),
        (KeyboardInterrupt(), "KeyboardInterrupt", ""),
    ],
)
def test_anything_else_by_its_first_line(error: BaseException, short: str, text: str) -> None:
    assert cause_of(error) == Cause("other", short, text)


def test_a_deadline_that_was_being_handled_is_not_the_reason_of_what_came_after() -> None:
    def fails() -> None:
        try:
            raise TimeoutError
        except TimeoutError:
            raise ValueError("no retry left")  # noqa: B904 (that is the case)

    assert cause_of(raised(fails)) == Cause("other", "no retry left", "no retry left")


def test_an_error_that_is_its_own_context_ends() -> None:
    one, two = ValueError("one"), ValueError("two")
    one.__cause__, two.__cause__ = two, one
    assert cause_of(one).short == "one"


def test_of_a_token_and_of_an_end() -> None:
    token = CancelToken()
    assert cause_of(token) is None
    token.cancel(GOAL)
    assert cause_of(token) == GOAL
    assert cause_of(Ended(How.STOPPED, GOAL)) == GOAL


@pytest.mark.parametrize(
    "named", [one for one in vars(causes).values() if isinstance(one, Cause)], ids=lambda cause: cause.code
)
def test_what_a_worker_names_by_itself_it_says_in_the_server_s_words(named: Cause) -> None:
    assert (named.short, named.text) == tuple(map(str, BUILT_IN[named.code]))


class TestChildren:
    """A token fans out, as Go's contexts do."""

    def test_a_cancel_reaches_all_below_and_none_above(self) -> None:
        top = CancelToken()
        left, right = top.child(), top.child()
        below = left.child()
        left.cancel(GOAL)
        assert [token.cause for token in (top, left, below, right)] == [None, GOAL, GOAL, None]
        top.cancel(causes.SHUTDOWN)
        assert [token.cause for token in (top, left, below, right)] == [
            causes.SHUTDOWN,
            GOAL,
            GOAL,
            causes.SHUTDOWN,
        ]

    def test_a_child_of_a_cancelled_token_is_born_cancelled(self) -> None:
        top = CancelToken()
        top.cancel(GOAL)
        assert top.child().cause == GOAL

    def test_a_deadline_has_a_name_and_then_a_grace(self) -> None:
        with CancelToken().child(within=0.01, cause=GOAL, grace=0.01) as token:
            assert token.wait(20)
            assert token.wait_abort(20)
            assert token.cause == GOAL
        with CancelToken().child(within=0.01) as token:
            assert token.wait(20)
            assert token.cause == causes.DEADLINE_EXCEEDED
            assert not token.aborted

    def test_the_end_of_its_block_releases_what_ran_below_and_leaves_nothing_above(self) -> None:
        top, called = CancelToken(), list[Cause]()
        with top.child(within=60) as part:
            part.on_cancel(called.append)
            below = part.child()
        assert below.cause == causes.WORK_FINISHED
        top.cancel(GOAL)
        assert called == [causes.WORK_FINISHED]
        assert part.cause == causes.WORK_FINISHED

    def test_an_abort_reaches_a_child_with_the_first_cause(self) -> None:
        top, aborted = CancelToken(), list[Cause]()
        child = top.child()
        child.on_abort(aborted.append)
        top.cancel(GOAL, grace=0.01)
        assert child.wait_abort(20)
        assert aborted == [GOAL]

    def test_a_shielded_token_hears_its_own_deadline_alone(self) -> None:
        top = CancelToken()
        with top.shield(within=0.01) as shielded:
            top.cancel(GOAL, grace=0)
            assert top.wait_abort(20)
            assert shielded.wait(20)
        assert shielded.cause == causes.DEADLINE_EXCEEDED
        assert not shielded.aborted
