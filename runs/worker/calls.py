"""The calls of the HTTP API, one method each, for both clients: what is asked, not who performs it.

`A` is what a call gives back: an Answer, or one to be awaited.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from runs.worker import wire
from runs.worker.plans import Retry
from runs.worker.wire import Send

A = TypeVar("A")

#: Somebody waits for the answer of a single call: after this long they are told that there is none.
CALLER = Retry(give_up=30.0)


class Calls(Generic[A]):
    """Every method gives the protocol's answer, refusals (409) included. Raises Problem for a refusal outside
    the protocol (401, 403, 404, 422 …) and Unreachable when no answer came for `retry.give_up` seconds.
    """

    def submit(self, job_id: str, spec: Mapping[str, Any]) -> A:
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
    ) -> A:
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

    def claim(self, job_id: str, worker: str, ttl_seconds: int | None = None) -> A:
        """After a lost answer this is `claim_held` by oneself: wait for the lease to end."""
        return self._ask(wire.command(job_id, "claim", worker=worker, ttl_seconds=ttl_seconds))

    def heartbeat(self, job_id: str, claim: str, heard: int | None = None) -> A:
        return self._ask(wire.command(job_id, "heartbeat", claim=claim, heard=heard))

    def reserve(self, job_id: str, claim: str, attempt: str | None = None) -> A:
        """Without an `attempt` a fresh one is chosen, for this call alone; dispatch asks for the same one."""
        attempt = attempt or secrets.token_hex(16)
        return self._ask(wire.command(job_id, "reserve", claim=claim, attempt=attempt))

    def dispatch(self, job_id: str, claim: str, ordinal: int, attempt: str) -> A:
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
    ) -> A:
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

    def release(self, job_id: str, claim: str, ordinal: int, *, event_id: str | None = None) -> A:
        event_id = event_id or wire.new_event_id()
        return self._ask(wire.command(job_id, "release", event_id=event_id, claim=claim, ordinal=ordinal))

    def _ask(self, ask: Send) -> A:
        raise NotImplementedError
