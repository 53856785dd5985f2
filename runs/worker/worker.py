"""The worker: runs jobs whose ids its own engine names. It finds no work by itself, keeps nothing on disk."""

from __future__ import annotations

from collections.abc import Mapping

from runs.worker.client import Client
from runs.worker.outcome import Ended, How
from runs.worker.plans import Retry
from runs.worker.pulse import Heartbeat, beat, farewell
from runs.worker.run import Timing, take, work
from runs.worker.step import Tool

EVERY_15_SECONDS = Timing()

#: An outcome must arrive however long the server is away.
PATIENT = Retry()


class Worker:
    """`name`: shown as the claim's holder. `tools`: the function for each tool name of a spec.

        worker = Worker(Client(url, token), name="w1", tools={"smtp/2": send_mail})
        ended = worker.run("order-7@20261129")

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
    ) -> None:
        self._client = client
        self._name = name
        self._tools = dict(tools)
        self._timing = timing
        self._retry = retry

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
        with Heartbeat(
            lambda: drive(beat(claim, self._timing, self._retry)), self._timing.heartbeat, name=job_id
        ):
            ended = drive(work(claim, self._tools, self._timing, self._retry))
        if ended.how is How.CANCELLED or claim.cancel.signal is not None:
            drive(farewell(claim, self._timing, self._retry))
        return ended
