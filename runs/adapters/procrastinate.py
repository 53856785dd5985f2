"""Procrastinate, on PostgreSQL: a list of task calls becomes a job, each call a step; one task runs all.

A procrastinate job that is retried, or handed out again after its worker died, meets the claim and the fence.
The cancel is the board's; the procrastinate job then ends as `aborted`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from procrastinate import App, BaseRetryStrategy, RetryDecision
from procrastinate.exceptions import AlreadyEnqueued, JobAborted
from procrastinate.jobs import Job
from procrastinate.tasks import Task

from runs.adapters.engines import Call, Runner, goes_on, result_of, spec_of, stopped
from runs.worker import Answer, Client, Timing
from runs.worker.drain import EVERY_15_SECONDS

NAME = "cancelboard.run"


class GoesOn(Exception):
    """This worker is shutting down; another should run the job."""


class _GoOn(BaseRetryStrategy):  # type: ignore[misc, unused-ignore]  # where it is not installed
    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        return RetryDecision(retry_in={"seconds": 1}) if isinstance(exception, GoesOn) else None


class Board:
    """`client`: makes one; called in each process that runs jobs. `queue`: of the board.

        board = Board(app, lambda: Client(url, token), queue="mail")
        board.submit("order-7", [(charge, {"order": 7}), (mail, {"to": "ada@example.test"})])

    For blocking task functions; a cancel tells them by `current_step().cancel`.
    """

    def __init__(
        self,
        app: App,
        client: Callable[[], Client],
        *,
        queue: str,
        name: str = "procrastinate",
        timing: Timing = EVERY_15_SECONDS,
        socket: bool = True,
    ) -> None:
        self._queue = queue
        self._runner = Runner(
            client, lambda tool: app.tasks[tool].func, name=name, timing=timing, socket=socket
        )
        self._task = app.task(name=NAME, retry=_GoOn())(self._run)

    def submit(
        self, job_id: str, calls: Sequence[tuple[Task[Any, Any, Any], Mapping[str, Any]]], **spec: Any
    ) -> Answer:
        """The job, and the procrastinate job that has it run. `spec`: owner, parent."""
        steps = [Call(task.name, kwargs=kwargs) for task, kwargs in calls]
        answer = self._runner.client.submit(job_id, spec_of(steps, self._queue, spec))
        if answer.status in ("admitted", "existing"):
            self.run(job_id)
        return answer

    def run(self, job_id: str) -> None:
        """Have it run (again): after somebody settled what was unknown, say. One waits at a time."""
        try:
            self._task.configure(queueing_lock=job_id, lock=job_id).defer(job_id=job_id)
        except AlreadyEnqueued:
            return

    def _run(self, job_id: str) -> Any:
        ended, job = self._runner.run(job_id)
        if stopped(job):
            raise JobAborted(job["cancel"]["cause"]["short"])
        if goes_on(ended):
            raise GoesOn(job_id)
        return result_of(job_id, ended, job)
