"""Client and worker on an event loop: the same plans, awaited. Nothing is decided here.

The socket stays in its thread (ears.py), since tokens may be told from any.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Self, TypeVar

from runs.worker import wire
from runs.worker.calls import CALLER, Calls
from runs.worker.cancel import CancelToken
from runs.worker.causes import Cause, cause_of
from runs.worker.drain import EVERY_15_SECONDS, PATIENT, Drained
from runs.worker.ears import Ears
from runs.worker.errors import Cancelled
from runs.worker.outcome import Ended
from runs.worker.plans import Nap, Plan, Retry, adrive, log, persist
from runs.worker.pulse import beat, farewell
from runs.worker.run import Timing, take, work
from runs.worker.step import Act, AsyncStepContext, AsyncTool, Claim
from runs.worker.transport import AsyncHttp
from runs.worker.wire import Answer, Effect, Send

T = TypeVar("T")


class AsyncClient(Calls[Awaitable[Answer]]):
    """`Client` on an event loop: every method is awaited. For one loop."""

    def __init__(self, url: str, token: str, *, timeout: float = 10.0, retry: Retry = CALLER) -> None:
        self._http = AsyncHttp(url, token, timeout)
        self.ears = Ears(url, token)
        self._retry = retry

    async def job(self, job_id: str) -> Mapping[str, Any]:
        """The job as it is now."""
        return (await self._ask(wire.job(job_id))).body

    async def close(self) -> None:
        await asyncio.to_thread(self.ears.close)
        await self._http.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def drive(self, plan: Plan[T]) -> T:
        """Perform a plan by awaiting."""
        return await adrive(plan, self._perform)

    def _ask(self, ask: Send) -> Awaitable[Answer]:
        return self.drive(persist(ask, self._retry))

    async def _perform(self, effect: Effect) -> object:
        match effect:
            case Send():
                return await self._http.send(effect)
            case Nap():
                await _nap(effect)
                return None
            case Act():
                return await self._act(effect)
            case _:
                raise TypeError(effect)

    async def _act(self, effect: Act) -> object:
        """The step's function, as a task: its abort cancels the task, with the cause."""
        step, loop = effect.reservation, asyncio.get_running_loop()
        context = AsyncStepContext(step, lambda: self.drive(step.dispatching()))
        tool: AsyncTool = effect.tool
        task = asyncio.ensure_future(tool(context))

        def cancel(cause: Cause) -> None:
            loop.call_soon_threadsafe(task.cancel, cause)

        forget = step.cancel.on_abort(cancel)
        try:
            return await task
        except asyncio.CancelledError as told:
            me = asyncio.current_task()
            if me is None or me.cancelling() or not task.cancelled():
                raise
            raise Cancelled(step.cancel.cause or cause_of(told)) from told
        finally:
            forget()


class AsyncWorker(Drained):
    """`Worker` on an event loop: `tools` are coroutine functions, jobs run side by side as tasks.

    A step's function is asked to stop by its token, as everywhere; when the grace has ended its task is
    cancelled, with the cause.
    """

    def __init__(
        self,
        client: AsyncClient,
        *,
        name: str,
        tools: Mapping[str, AsyncTool],
        timing: Timing = EVERY_15_SECONDS,
        retry: Retry = PATIENT,
        socket: bool = True,
    ) -> None:
        super().__init__(name=name, tools=tools, timing=timing, retry=retry, socket=socket)
        self._client = client

    async def run(self, job_id: str, under: CancelToken | None = None) -> Ended:
        """`Worker.run`, awaited.

        Where its task is cancelled (`task.cancel(cause)`, a task group, `asyncio.timeout`), so is its token;
        what the step's function says to that is still reported, and then CancelledError goes on. Cancelled
        a second time it ends at once: the lease lapses, and a step that was out becomes unknown.
        """
        with self._running(under) as token:
            run = asyncio.ensure_future(self._run(job_id, token))
            try:
                return await asyncio.shield(run)
            except asyncio.CancelledError as told:
                token.cancel(cause_of(told), self._timing.grace)
                try:
                    await asyncio.wait([run])
                finally:
                    if run.cancel():
                        await asyncio.wait([run])
                    elif not run.cancelled() and run.exception():
                        log.error("the run of %s, which was cancelled", job_id, exc_info=run.exception())
                raise

    async def _run(self, job_id: str, token: CancelToken) -> Ended:
        drive = self._client.drive
        claim = await drive(take(job_id, self._name, self._tools, self._timing, self._retry, token))
        if isinstance(claim, Ended):
            return claim
        async with self._beating(claim):
            ended = await drive(work(claim, self._tools, self._timing, self._retry))
        if token.accepted or token.signal is not None:
            await drive(farewell(claim, self._timing, self._retry))
        return ended

    @asynccontextmanager
    async def _beating(self, claim: Claim) -> AsyncIterator[None]:
        """The heartbeat, which the socket calls when there is something to confirm."""
        loop, due, over = asyncio.get_running_loop(), asyncio.Event(), False

        async def beats() -> None:
            pause = self._timing.heartbeat
            while True:
                with suppress(TimeoutError):
                    await asyncio.wait_for(due.wait(), pause)
                due.clear()
                if over:
                    return
                pause = await self._client.drive(beat(claim, self._timing, self._retry))

        def now() -> None:
            loop.call_soon_threadsafe(due.set)

        beating = asyncio.ensure_future(beats())
        forget = await asyncio.to_thread(self._client.ears.watch, claim, now) if self._socket else None
        try:
            yield
        finally:
            if forget:
                await asyncio.to_thread(forget)
            over = True
            due.set()
            await beating


async def _nap(nap: Nap) -> None:
    if nap.until is None:
        await asyncio.sleep(nap.seconds)
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(nap.seconds):
            await nap.until
