"""On an event loop: a block that ends with its token, and a clean-up that does not."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import httpx
import pytest

from runs.adapters.tasks import shielded, stopping
from runs.worker import Cancelled, CancelToken, cause_of

from .conftest import AT_ONCE, GOAL, Chat, Watch


def run(story: Coroutine[Any, Any, object]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(20):
            await story

    asyncio.run(bounded())


def test_a_task_group_ends_with_its_token(token: CancelToken, watch: Watch) -> None:
    begun, ended = list[int](), list[int]()

    async def work(n: int) -> None:
        begun.append(n)
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(n)

    async def story() -> None:
        with pytest.raises(Cancelled) as told:  # noqa: PT012
            async with stopping(token), asyncio.TaskGroup() as group:
                for n in range(3):
                    group.create_task(work(n))
                await asyncio.sleep(0)
                await asyncio.to_thread(watch.cancel, token)
                await asyncio.sleep(60)
        assert told.value.cause == GOAL
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        with pytest.raises(Cancelled):
            async with stopping(token):
                begun.append(3)

    run(story())
    assert watch.took < AT_ONCE
    assert begun == sorted(ended) == [0, 1, 2]


def test_a_streaming_call_is_closed(token: CancelToken, chat: Chat, watch: Watch) -> None:
    async def story() -> None:
        with pytest.raises(Cancelled):  # noqa: PT012
            async with (
                stopping(token),
                httpx.AsyncClient() as client,
                client.stream("POST", chat.url, json={"prompt": "hello"}) as words,
            ):
                async for line in words.aiter_lines():
                    if line.endswith("2}"):
                        await asyncio.to_thread(watch.cancel, token)

    run(story())
    assert watch.took < AT_ONCE
    assert chat.hung_up.acquire(timeout=AT_ONCE)


def test_a_block_that_ends_first_is_not_cancelled_afterwards(token: CancelToken) -> None:
    async def story() -> None:
        async with stopping(token):
            await asyncio.sleep(0)
        token.cancel(GOAL)
        await asyncio.sleep(0.01)

    run(story())


def test_a_cancel_from_elsewhere_stays_what_it_is(token: CancelToken) -> None:
    async def block() -> None:
        async with stopping(token):
            await asyncio.sleep(60)

    async def story() -> None:
        task = asyncio.ensure_future(block())
        await asyncio.sleep(0)
        task.cancel("elsewhere")
        with pytest.raises(asyncio.CancelledError, match="elsewhere") as raised:
            await task
        assert cause_of(raised.value).code == "canceled_no_cause"

    run(story())


def test_a_block_that_swallows_its_cancel_is_cancelled_all_the_same(token: CancelToken) -> None:
    async def story() -> None:
        with pytest.raises(Cancelled):  # noqa: PT012
            async with stopping(token):
                token.cancel(GOAL)
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(60)
        await asyncio.sleep(0)

    run(story())


def test_an_abort_alone(token: CancelToken) -> None:
    seen = list[bool]()

    async def story() -> None:
        with pytest.raises(Cancelled):  # noqa: PT012
            async with stopping(token, at="abort"):
                token.cancel(GOAL, grace=0.05)
                await asyncio.sleep(0)
                seen.append(token.cancelled)
                await asyncio.sleep(60)

    run(story())
    assert seen == [True]


def test_a_shielded_clean_up_ends_however_often_its_task_is_cancelled(token: CancelToken) -> None:
    cleaned = list[str]()

    async def clean_up() -> None:
        await asyncio.sleep(0.05)
        cleaned.append("up")

    async def work() -> None:
        try:
            async with stopping(token):
                await asyncio.sleep(60)
        finally:
            await shielded(clean_up(), within=20)

    async def story() -> None:
        task = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        token.cancel(GOAL)
        await asyncio.sleep(0.01)
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        await asyncio.wait([task])
        assert task.cancelled()

    run(story())
    assert cleaned == ["up"]


def test_a_clean_up_has_an_end(token: CancelToken) -> None:
    async def story() -> None:
        with pytest.raises(TimeoutError):
            await shielded(asyncio.sleep(60), within=0.01)

    run(story())


def test_a_clean_up_for_a_thread_has_a_token_of_its_own(token: CancelToken) -> None:
    token.cancel(GOAL)
    with token.shield(within=20) as mine:
        assert not mine.wait(0.01)
