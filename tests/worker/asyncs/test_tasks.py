"""What only an event loop has: tasks that are cancelled, and cancel others."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from runs.worker import AsyncClient, AsyncStepContext, AsyncTool, AsyncWorker, Cause, Happened, How, causes
from tests.worker.conftest import QUICK, QUIET, TIMING, Job, Receiver, Server, Submit
from tests.worker.web import Line

GOAL = Cause("goal_met", "Goal met", "Enough was found.")


@asynccontextmanager
async def working(server: Server, tool: AsyncTool, timing: object = TIMING) -> AsyncIterator[AsyncWorker]:
    async with AsyncClient(server.url, server.token) as client:
        yield AsyncWorker(client, name="w1", tools={"smtp/2": tool}, timing=timing, retry=QUICK, socket=False)


def test_jobs_side_by_side_in_one_loop(submit: Submit, server: Server, receiver: Receiver) -> None:
    jobs = [submit("marked") for _ in range(4)]
    together = asyncio.Barrier(4)

    async def tool(step: AsyncStepContext) -> Happened:
        async with asyncio.timeout(20):
            await together.wait()
        await step.dispatch()
        receiver.keys.append(step.idempotency_key)
        return Happened()

    async def story() -> list[str | None]:
        async with working(server, tool) as worker:
            return [ended.result for ended in await asyncio.gather(*(worker.run(job.id) for job in jobs))]

    assert asyncio.run(story()) == ["succeeded"] * 4
    assert receiver.nothing_twice
    assert len(receiver.keys) == 8


def test_a_token_awaited_in_a_step_wakes_by_the_heartbeat(submit: Submit, server: Server) -> None:
    job = submit()

    async def tool(step: AsyncStepContext) -> Happened:
        await asyncio.to_thread(job.cancel)
        async with asyncio.timeout(20):
            cause = await step.cancel
        return Happened(cause.code)

    async def story() -> How:
        async with working(server, tool) as worker:
            return (await worker.run(job.id)).how

    assert asyncio.run(story()) is How.CANCELLED
    assert job.states()[0] == ("ok", "user_requested")


def test_after_the_grace_the_task_of_the_step_is_cancelled_and_it_is_unknown(
    submit: Submit, server: Server, receiver: Receiver
) -> None:
    job, heard = submit("marked"), list[object]()

    async def tool(step: AsyncStepContext) -> Happened:
        await step.dispatch()
        try:
            await asyncio.sleep(60)  # it never looks at its token
        except asyncio.CancelledError as told:
            heard.extend(told.args)
            raise
        return Happened()

    async def story() -> object:
        async with working(server, tool, replace(QUIET, step=0.1, grace=0.1)) as worker:
            async with asyncio.timeout(20):
                return await worker.run(job.id)

    ended = asyncio.run(story())
    assert (ended.how, ended.cause) == (How.UNKNOWN, causes.DEADLINE_EXCEEDED)  # type: ignore[attr-defined]
    assert heard == [causes.DEADLINE_EXCEEDED]
    assert job.states()[0] == ("unknown", None)


def cancelled_once_out(
    server: Server,
    job: Job,
    tool: Callable[[AsyncStepContext, asyncio.Event], Awaitable[Happened]],
    *args: object,
) -> BaseException:
    """The task of a run is cancelled when its step is out; gives what the run then raised."""

    async def story() -> BaseException:
        out = asyncio.Event()

        async def step_function(step: AsyncStepContext) -> Happened:
            return await tool(step, out)

        async with working(server, step_function, QUIET) as worker, asyncio.timeout(20):
            run = asyncio.ensure_future(worker.run(job.id))
            await out.wait()
            run.cancel(*args)
            await asyncio.wait([run])
            try:
                run.result()
            except asyncio.CancelledError as error:
                return error
            raise AssertionError("it was not cancelled")

    return asyncio.run(story())


def test_a_run_whose_task_is_cancelled_still_tells_what_happened(submit: Submit, server: Server) -> None:
    async def tool(step: AsyncStepContext, out: asyncio.Event) -> Happened:
        await step.dispatch()
        out.set()
        return Happened((await step.cancel).code)

    job = submit("marked", steps=2)
    error = cancelled_once_out(server, job, tool, GOAL)
    assert error.args == (GOAL,)
    assert job.states() == [("ok", "goal_met"), ("pending", None)]
    assert job.now()["control"] == "run"


def test_a_task_cancelled_without_a_name_is_that(submit: Submit, server: Server) -> None:
    async def tool(step: AsyncStepContext, out: asyncio.Event) -> Happened:
        out.set()
        return Happened((await step.cancel).code)

    job = submit()
    cancelled_once_out(server, job, tool)
    assert job.states()[0] == ("ok", "canceled_no_cause")


def test_a_task_cancelled_twice_ends_at_once_and_claims_nothing(
    submit: Submit, server: Server, line: Line
) -> None:
    job, gone = submit("marked"), asyncio.Event()

    async def tool(step: AsyncStepContext) -> Happened:
        await step.dispatch()
        run.cancel()
        try:
            await asyncio.sleep(60)
        finally:
            gone.set()
        return Happened()

    async def story() -> None:
        nonlocal run
        async with working(server, tool, QUIET) as worker, asyncio.timeout(20):
            run = asyncio.ensure_future(worker.run(job.id))
            while not run.cancelling():
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.01)
            run.cancel()
            await asyncio.wait([run])
            assert run.cancelled()
            assert gone.is_set()

    run: asyncio.Task[object]
    asyncio.run(story())
    assert job.states()[0] == ("inflight", None)


def test_a_drain_ends_the_tasks_of_all_runs(submit: Submit, server: Server) -> None:
    jobs = [submit(), submit()]
    together = asyncio.Barrier(3)

    async def tool(step: AsyncStepContext) -> Happened:
        await together.wait()
        return Happened((await step.cancel).code)

    async def story() -> list[How]:
        async with working(server, tool, QUIET) as worker, asyncio.timeout(20):
            runs = [asyncio.ensure_future(worker.run(job.id)) for job in jobs]
            await together.wait()
            worker.shutdown()
            return [(await run).how for run in runs]

    assert asyncio.run(story()) == [How.STOPPED, How.STOPPED]
    assert [job.states()[0] for job in jobs] == [("ok", "shutdown")] * 2
