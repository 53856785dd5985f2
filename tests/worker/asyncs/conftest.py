"""In place of the blocking worker: the one on an event loop, with the same functions, each in a thread."""

import asyncio
from typing import Any

import pytest

from runs.worker import (
    AsyncClient,
    AsyncStepContext,
    AsyncWorker,
    CancelToken,
    Ended,
    Happened,
    Retry,
    StepContext,
    Timing,
    Tool,
)
from tests.worker.conftest import QUICK, TIMING, MakeWorker, Server
from tests.worker.web import Line


class Blocking:
    """An AsyncWorker as the tests know a Worker. Each run has a loop and a client of its own."""

    def __init__(self, url: str, token: str, tool: Tool, timing: Timing, retry: Retry) -> None:
        self._url, self._token, self._tool = url, token, tool
        self._timing, self._retry = timing, retry

    def run(self, job_id: str, under: CancelToken | None = None) -> Ended:
        return asyncio.run(self._run(job_id, under))

    async def _run(self, job_id: str, under: CancelToken | None) -> Ended:
        loop = asyncio.get_running_loop()

        async def tool(step: AsyncStepContext) -> Happened:
            def blocking() -> Happened:
                context = StepContext.__new__(StepContext)
                context.__dict__ |= step.__dict__
                context._dispatch = lambda: asyncio.run_coroutine_threadsafe(step.dispatch(), loop).result(20)
                return self._tool(context)

            return await asyncio.to_thread(blocking)

        async with AsyncClient(self._url, self._token, timeout=10) as client:
            worker = AsyncWorker(
                client,
                name="w1",
                tools={"smtp/2": tool},
                timing=self._timing,
                retry=self._retry,
                socket=False,
            )
            return await worker.run(job_id, under)


@pytest.fixture
def worker(server: Server, line: Line) -> MakeWorker:
    def make(tool: Tool, timing: Timing = TIMING, retry: Retry = QUICK) -> Any:
        return Blocking(line.url, server.token, tool, timing, retry)

    return make
