"""Celery: an existing task or chain becomes a job, each task a step; one Celery task runs the whole of it.

The message is acknowledged late, and redelivered when a worker dies. It then meets the claim and the fence:
what may have been sent is not sent again, and a job that was cancelled is not run again, whatever Celery has
forgotten meanwhile. The cancel is the board's; it drives Celery's revoke.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from celery import Celery, states
from celery.canvas import Signature
from celery.exceptions import Ignore

from runs.adapters.engines import Call, Runner, goes_on, result_of, spec_of, stopped
from runs.worker import Answer, Client, Timing
from runs.worker.drain import EVERY_15_SECONDS

NAME = "cancelboard.run"


class Board:
    """`client`: makes one; called in each process that runs jobs. `queue`: of the board. To be made where the
    app is, so that every worker knows the task.

        board = Board(app, lambda: Client(url, token), queue="mail")
        board.submit("order-7", chain(charge.s(7), mail.s("ada@example.test")))

    A cancel tells the tasks by `current_step().cancel`. `terminate`: when its grace has ended the pool's
    process is killed, by Celery's revoke; what it had sent is then unknown.
    """

    def __init__(
        self,
        app: Celery,
        client: Callable[[], Client],
        *,
        queue: str,
        name: str = "celery",
        timing: Timing = EVERY_15_SECONDS,
        socket: bool = True,
        terminate: bool = False,
    ) -> None:
        self._app = app
        self._queue = queue
        self._runner = Runner(
            client,
            lambda tool: app.tasks[tool],
            name=name,
            timing=timing,
            socket=socket,
            on_abort=self._kill if terminate else None,
        )
        options = {"name": NAME, "bind": True, "acks_late": True, "reject_on_worker_lost": True}

        def run(task: Any, job_id: str) -> Any:
            return self._run(task, job_id)

        self._task = app.task(**options, shared=False)(run)

    def submit(self, job_id: str, work: Signature, **spec: Any) -> Answer:
        """The job, and the message that has it run, with the job's id as Celery's. `spec`: owner, parent."""
        answer = self._runner.client.submit(job_id, spec_of(_calls(work), self._queue, spec))
        if answer.status in ("admitted", "existing"):
            self.run(job_id)
        return answer

    def run(self, job_id: str) -> None:
        """Have it run (again): after somebody settled what was unknown, say. A second message is harmless."""
        self._task.apply_async((job_id,), task_id=job_id)

    def _run(self, task: Any, job_id: str) -> Any:
        ended, job = self._runner.run(job_id)
        if stopped(job):
            self._app.control.revoke(job_id)  # copies that wait elsewhere are dropped unseen
            task.update_state(state=states.REVOKED, meta=_why(job))
            raise Ignore
        if goes_on(ended):
            raise task.retry(countdown=1, max_retries=None)
        return result_of(job_id, ended, job)

    def _kill(self, job_id: str) -> None:
        self._app.control.revoke(job_id, terminate=True, signal="SIGKILL")


def _calls(work: Signature) -> Iterator[Call]:
    """Of a task's signature, or a chain of them. Raises TypeError for groups, chords and the like."""
    for place, each in enumerate(getattr(work, "tasks", [work])):
        if each.get("subtask_type") or not isinstance(each, Signature):
            raise TypeError(f"{each!r}: only tasks, and chains of tasks, have an order of steps")
        yield Call(each.task, each.args, each.kwargs, takes_result=place > 0 and not each.immutable)


def _why(job: Mapping[str, Any]) -> dict[str, Any]:
    """As Celery keeps the reason of a revoked task: an exception by its parts."""
    cause = job["cancel"]["cause"]
    return {
        "exc_type": "TaskRevokedError",
        "exc_message": [cause["short"]],
        "exc_module": "celery.exceptions",
    }
