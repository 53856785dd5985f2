"""What the adapters of engines share: an engine's calls become a job, each call a marked step of it, and the
engine's own state of that work follows what the job's state says.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from runs.worker import Client, Ended, Happened, How, SdkError, StepContext, Timing, Tool, Worker
from runs.worker.drain import EVERY_15_SECONDS

_step: ContextVar[StepContext] = ContextVar("cancelboard step")


def current_step() -> StepContext:
    """The step that the engine's task runs in: for its `cancel` token and its `idempotency_key`."""
    return _step.get()


class JobFailed(SdkError):
    """A step was rejected."""


class NotSettled(SdkError):
    """The run ended, and the job has not: somebody has to look. Run it again when they have."""


@dataclass(frozen=True, slots=True)
class Call:
    """`tool`: the engine's name for the task. `takes_result`: of the call before, as its first argument."""

    tool: str
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    takes_result: bool = False


def spec_of(calls: Iterable[Call], queue: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """The job. What does not fit (16 KiB a call, whole numbers only) is refused when it is submitted."""
    steps = [
        {
            "label": call.tool,
            "tool": call.tool,
            "params": {
                "args": list(call.args),
                "kwargs": dict(call.kwargs),
                "takes_result": call.takes_result,
            },
        }
        for call in calls
    ]
    return {"queue": queue, "dispatch": "marked", **more, "steps": steps}


class Runner:
    """One client and worker for each process, made there: an engine forks its own.

    `functions`: from a tool's name to what is called. `on_abort`: told the job id when a grace has ended.
    """

    def __init__(
        self,
        client: Callable[[], Client],
        functions: Callable[[str], Callable[..., Any]],
        *,
        name: str,
        timing: Timing = EVERY_15_SECONDS,
        socket: bool = True,
        on_abort: Callable[[str], None] | None = None,
    ) -> None:
        self._new_client = client
        self._functions = functions
        self._name = name
        self._timing = timing
        self._socket = socket
        self._on_abort = on_abort
        self._made: tuple[int, Client] | None = None

    @property
    def client(self) -> Client:
        if self._made is None or self._made[0] != os.getpid():
            self._made = os.getpid(), self._new_client()
        return self._made[1]

    def run(self, job_id: str) -> tuple[Ended, Mapping[str, Any]]:
        """How the run ended, and the job as it is after it."""
        job = self.client.job(job_id)
        tools = {step["tool"]: self._tool(step["tool"]) for step in job["steps"]}
        worker = Worker(
            self.client,
            name=f"{self._name}-{os.getpid()}",
            tools=tools,
            timing=self._timing,
            socket=self._socket,
        )
        return worker.run(job_id), self.client.job(job_id)

    def _tool(self, name: str) -> Tool:
        function = self._functions(name)
        if inspect.iscoroutinefunction(function):
            raise TypeError(f"{name} is a coroutine function: call AsyncWorker from it instead")

        def call(step: StepContext) -> Happened:
            args = [*step.params["args"]]
            if step.params["takes_result"] and step.ordinal:
                before = self.client.job(step.job_id)["steps"][step.ordinal - 1]["value"]
                args.insert(0, json.loads(before))
            step.dispatch()
            forget = step.cancel.on_abort(lambda _: self._on_abort and self._on_abort(step.job_id))
            mine = _step.set(step)
            try:
                return Happened(json.dumps(function(*args, **step.params["kwargs"])))
            finally:
                _step.reset(mine)
                forget()

        return call


def stopped(job: Mapping[str, Any]) -> bool:
    """A cancel was accepted, nothing is out, and the job came to no end of its own: the engine's own word for
    cancelled is true. A last call that was out and succeeded makes the job a success all the same."""
    return bool(job["control"] == "acknowledged" and job["result"] == "open")


def result_of(job_id: str, ended: Ended, job: Mapping[str, Any]) -> Any:
    """The last call's result. Raises JobFailed, NotSettled."""
    if job["result"] == "succeeded":
        return json.loads(job["steps"][-1]["value"] or "null")
    if job["result"] == "failed":
        raise JobFailed(f"{job_id}: a step was rejected")
    where = "" if ended.ordinal is None else f" at step {ended.ordinal}"
    why = f": {ended.cause.short}" if ended.cause else ""
    raise NotSettled(f"{job_id}: {ended.how}{where}{why}") from ended.error


def goes_on(ended: Ended) -> bool:
    """This worker is shutting down: the engine should hand the job to another."""
    return ended.how is How.STOPPED and ended.error is None
