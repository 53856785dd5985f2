"""The client of the HTTP API, blocking. Not the engine: it claims nothing by itself, sends no heartbeat."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from runs.worker import wire
from runs.worker.calls import CALLER, Calls
from runs.worker.ears import Ears
from runs.worker.plans import Nap, Plan, Retry, drive, persist
from runs.worker.step import Act, StepContext
from runs.worker.transport import Http
from runs.worker.wire import Answer, Effect, Send

T = TypeVar("T")


class Client(Calls[Answer]):
    """`url`: where the server is (`https://host`, without `/api`). `token`: of a service account.

    `timeout`: seconds until a request without a reply is tried again. Safe to share between threads.
    """

    def __init__(self, url: str, token: str, *, timeout: float = 10.0, retry: Retry = CALLER) -> None:
        self._http = Http(url, token, timeout)
        self.ears = Ears(url, token)
        self._retry = retry

    def job(self, job_id: str) -> Mapping[str, Any]:
        """The job as it is now."""
        return self._ask(wire.job(job_id)).body

    def close(self) -> None:
        self.ears.close()
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def drive(self, plan: Plan[T]) -> T:
        """Perform a plan by blocking this thread."""
        return drive(plan, self._perform)

    def _ask(self, ask: Send) -> Answer:
        return self.drive(persist(ask, self._retry))

    def _perform(self, effect: Effect) -> object:
        match effect:
            case Send():
                return self._http.send(effect)
            case Nap():
                effect.until.wait(effect.seconds) if effect.until else time.sleep(effect.seconds)
                return None
            case Act():
                step = effect.reservation
                return effect.tool(StepContext(step, lambda: self.drive(step.dispatching())))
            case _:
                raise TypeError(effect)
