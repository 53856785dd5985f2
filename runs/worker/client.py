"""The client of the HTTP API, blocking: one method per call, each tried again until an answer comes.

Not the engine: it claims nothing by itself and sends no heartbeat (worker.py does).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from runs.worker import wire
from runs.worker.ears import Ears
from runs.worker.plans import Nap, Plan, Retry, drive, persist
from runs.worker.step import Act, StepContext
from runs.worker.transport import Http
from runs.worker.wire import Answer, Effect, Send

T = TypeVar("T")

#: Somebody waits for the answer of a single call: after this long they are told that there is none.
CALLER = Retry(give_up=30.0)


class Client:
    """`url`: where the server is (`https://host`, without `/api`). `token`: of a service account.

    `timeout`: seconds until a request without a reply is tried again. Every method returns the protocol's
    answer, refusals (409) included. Raises Problem for a refusal outside the protocol (401, 403, 404, 422 …)
    and Unreachable when no answer came for `retry.give_up` seconds. Safe to share between threads.
    """

    def __init__(self, url: str, token: str, *, timeout: float = 10.0, retry: Retry = CALLER) -> None:
        self._http = Http(url, token, timeout)
        self.ears = Ears(url, token)
        self._retry = retry

    def submit(self, job_id: str, spec: Mapping[str, Any]) -> Answer:
        """Idempotent by identity: after a lost answer the same job is `existing`."""
        return self._ask(wire.submit(job_id, spec))

    def cancel(
        self,
        job_id: str,
        *,
        event_id: str | None = None,
        spec: Mapping[str, Any] | None = None,
        spec_digest: str | None = None,
        cause: str | None = None,
        note: str | None = None,
        asked_by: str | None = None,
        grace_seconds: int | None = None,
        cascade: bool | None = None,
    ) -> Answer:
        """Ask for the cancel. With the whole `spec` it also works before the job was submitted (a tombstone).

        `event_id`: keep one of your own where your process may die before the answer comes, and ask again
        with it; without one it is chosen here, for this call.
        """
        ask = wire.command(
            job_id,
            "cancel",
            event_id=event_id or wire.new_event_id(),
            spec=spec,
            spec_digest=spec_digest,
            cause=cause,
            note=note,
            asked_by=asked_by,
            grace_seconds=grace_seconds,
            cascade=cascade,
        )
        return self._ask(ask)

    def job(self, job_id: str) -> Mapping[str, Any]:
        """The job as it is now."""
        return self._ask(wire.job(job_id)).body

    def claim(self, job_id: str, worker: str, ttl_seconds: int | None = None) -> Answer:
        """After a lost answer this is `claim_held` by oneself: wait for the lease to end."""
        return self._ask(wire.command(job_id, "claim", worker=worker, ttl_seconds=ttl_seconds))

    def heartbeat(self, job_id: str, claim: str, heard: int | None = None) -> Answer:
        return self._ask(wire.command(job_id, "heartbeat", claim=claim, heard=heard))

    def reserve(self, job_id: str, claim: str, attempt: str | None = None) -> Answer:
        """Without an `attempt` a fresh one is chosen, for this call alone; dispatch asks for the same one."""
        attempt = attempt or secrets.token_hex(16)
        return self._ask(wire.command(job_id, "reserve", claim=claim, attempt=attempt))

    def dispatch(self, job_id: str, claim: str, ordinal: int, attempt: str) -> Answer:
        """`dispatched`, replayed or not, permits one send, by the process that has sent nothing under it."""
        return self._ask(wire.command(job_id, "dispatch", claim=claim, ordinal=ordinal, attempt=attempt))

    def report(
        self,
        job_id: str,
        claim: str,
        ordinal: int,
        outcome: str,
        *,
        value: str | None = None,
        evidence: Mapping[str, str] | None = None,
        event_id: str | None = None,
    ) -> Answer:
        """`outcome`: ok, rejected or unknown."""
        ask = wire.command(
            job_id,
            "report",
            event_id=event_id or wire.new_event_id(),
            claim=claim,
            ordinal=ordinal,
            outcome=outcome,
            value=value,
            evidence=evidence,
        )
        return self._ask(ask)

    def release(self, job_id: str, claim: str, ordinal: int, *, event_id: str | None = None) -> Answer:
        event_id = event_id or wire.new_event_id()
        return self._ask(wire.command(job_id, "release", event_id=event_id, claim=claim, ordinal=ordinal))

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
