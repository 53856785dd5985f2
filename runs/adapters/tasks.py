"""Work on an event loop: a block that is cancelled when its token is, and a clean-up that is not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Literal, TypeVar

from runs.worker import Cancelled, CancelToken, Cause

T = TypeVar("T")


@asynccontextmanager
async def stopping(token: CancelToken, at: Literal["stop", "abort"] = "stop") -> AsyncIterator[None]:
    """The block is cancelled at once when the token is, and raises Cancelled: as `asyncio.timeout` does when
    its time has come. Task groups, streams and calls inside end as they do for any cancelled task.

        async with stopping(step.cancel), client.stream("POST", url, json=prompt) as words:
            async for line in words.aiter_lines(): …

    Bound: at once, and whatever the block does in its `finally`.
    """
    token.raise_if_cancelled()
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None
    before, told, over = task.cancelling(), list[Cause](), False

    def tell(cause: Cause) -> None:
        if not over:
            told.append(cause)
            task.cancel(cause)

    def heard(cause: Cause) -> None:
        loop.call_soon_threadsafe(tell, cause)

    forget = (token.on_cancel if at == "stop" else token.on_abort)(heard)
    try:
        yield
    except BaseException as error:
        if told and task.uncancel() <= before and isinstance(error, asyncio.CancelledError):
            raise Cancelled(told[0]) from error
        raise
    else:
        if told:
            task.uncancel()
            raise Cancelled(told[0])
    finally:
        over = True
        forget()


async def shielded(clean_up: Coroutine[Any, Any, T], within: float) -> T:
    """Carry the clean-up to its end, however often this task is cancelled meanwhile; then that goes on.

    Bound: `within` seconds, after which the clean-up itself gets a TimeoutError.
    """

    async def bounded() -> T:
        async with asyncio.timeout(within):
            return await clean_up

    work, told = asyncio.ensure_future(bounded()), None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            told = told or error
    if told is not None:
        raise told from work.exception()
    return work.result()
