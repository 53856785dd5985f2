"""The worker: runs jobs whose ids its own engine names. It finds no work by itself, keeps nothing on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from runs.worker.cancel import CancelToken
from runs.worker.client import Client
from runs.worker.drain import EVERY_15_SECONDS, PATIENT, Drained
from runs.worker.outcome import Ended
from runs.worker.plans import Retry
from runs.worker.pulse import Heartbeat, beat, farewell
from runs.worker.run import Timing, take, work
from runs.worker.step import Claim, Tool


class Worker(Drained):
    """`name`: shown as the claim's holder. `tools`: the function for each tool name of a spec.

        worker = Worker(Client(url, token), name="w1", tools={"smtp/2": send_mail})
        ended = worker.run("order-7@20261129")

    `socket`: hear a cancel at once, by the client's socket, beside the heartbeat; off: by heartbeat only.

    Several jobs may be run at once, each in a thread of the caller's.
    """

    def __init__(
        self,
        client: Client,
        *,
        name: str,
        tools: Mapping[str, Tool],
        timing: Timing = EVERY_15_SECONDS,
        retry: Retry = PATIENT,
        socket: bool = True,
    ) -> None:
        super().__init__(name=name, tools=tools, timing=timing, retry=retry, socket=socket)
        self._client = client

    def run(self, job_id: str, under: CancelToken | None = None) -> Ended:
        """Work on the job until nothing more is handed out, and say how that ended.

        Blocks for as long as it takes: a held claim is waited out (`Timing.claim_wait`), a pause to its end,
        an unreachable server until it is back (`Retry.give_up`). After a crash call it again: what may have
        been sent is not sent again but left unknown for somebody to settle. `under`: a token of the caller's
        that stops this run too.

        Raises Problem, UnknownTool, Unexpected, Unreachable. KeyboardInterrupt and SystemExit in a step go
        through at once; its lease then lapses, and the step becomes unknown.
        """
        drive = self._client.drive
        with self._running(under) as token:
            claim = drive(take(job_id, self._name, self._tools, self._timing, self._retry, token))
            if isinstance(claim, Ended):
                return claim
            heartbeat = Heartbeat(
                lambda: drive(beat(claim, self._timing, self._retry)), self._timing.heartbeat, name=job_id
            )
            with heartbeat, self._listening(claim, heartbeat.now):
                ended = drive(work(claim, self._tools, self._timing, self._retry))
            if token.accepted or token.signal is not None:
                drive(farewell(claim, self._timing, self._retry))
            return ended

    @contextmanager
    def _listening(self, claim: Claim, heard: Callable[[], None]) -> Iterator[None]:
        """The socket, beside the heartbeat, which tells the server at once that its word was heard."""
        forget = self._client.ears.watch(claim, heard) if self._socket else None
        try:
            yield
        finally:
            if forget:
                forget()
