"""The worker: runs jobs whose ids its own engine names. It finds no work by itself, keeps nothing on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from runs.worker.client import Client
from runs.worker.outcome import Ended, How
from runs.worker.plans import Retry
from runs.worker.pulse import Heartbeat, beat, farewell
from runs.worker.run import Timing, take, work
from runs.worker.step import Claim, Tool

EVERY_15_SECONDS = Timing()

#: An outcome must arrive however long the server is away.
PATIENT = Retry()


class Worker:
    """`name`: shown as the claim's holder. `tools`: the function for each tool name of a spec.

        worker = Worker(Client(url, token), name="w1", tools={"smtp/2": send_mail})
        ended = worker.run("order-7@20261129")

    `socket`: hear a cancel at once, by the client's socket, beside the heartbeat; off: by heartbeat only.

    Holds no state between runs; several jobs may be run at once, each in a thread of the caller's.
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
        self._client = client
        self._name = name
        self._tools = dict(tools)
        self._timing = timing
        self._retry = retry
        self._socket = socket

    def run(self, job_id: str) -> Ended:
        """Work on the job until nothing more is handed out, and say how that ended.

        Blocks for as long as it takes: a held claim is waited out (`Timing.claim_wait`), a pause to its end,
        an unreachable server until it is back (`Retry.give_up`). After a crash call it again: what may have
        been sent is not sent again but left unknown for somebody to settle.

        Raises Problem, UnknownTool, Unexpected, Unreachable. KeyboardInterrupt and SystemExit in a step go
        through at once; its lease then lapses, and the step becomes unknown.
        """
        drive = self._client.drive
        claim = drive(take(job_id, self._name, self._tools, self._timing, self._retry))
        if isinstance(claim, Ended):
            return claim
        heartbeat = Heartbeat(
            lambda: drive(beat(claim, self._timing, self._retry)), self._timing.heartbeat, name=job_id
        )
        with heartbeat, self._listening(claim, heartbeat.now):
            ended = drive(work(claim, self._tools, self._timing, self._retry))
        if ended.how is How.CANCELLED or claim.cancel.signal is not None:
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
