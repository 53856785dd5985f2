"""From the accepted cancel to the worker's code that waits for it: by socket, and by heartbeat only.

Time zero is the time in the cancel's own receipt (read after the locks, before the commit), so the commit is
in the figure. Server, worker and caller are processes and threads of this one machine, with one clock.
"""

import threading
import time
from collections.abc import Callable
from datetime import datetime
from uuid import uuid4

from runs.worker import Client, Happened, StepContext, Timing, Worker

JOBS, AT_ONCE = 200, 50
SPEC = {"queue": "mail", "steps": ["wait for the cancel", "never"]}
HEARTBEAT = Timing()  #: the default, 15 s
QUIET = Timing(heartbeat=900, ttl=1800)

#: Asks to cancel a job by its id and spec digest, and returns the receipt's `at`.
Cancel = Callable[[str, str], str]
Waiting = tuple[str, Callable[[], float]]  #: a job with a step that waits, and when that was woken


def percentiles(waits: list[float]) -> str:
    ordered = sorted(waits)
    at = {p: ordered[min(len(ordered) - 1, int(len(ordered) * p / 100))] * 1000 for p in (50, 99)}
    return f"p50 {at[50]:7.1f} ms   p99 {at[99]:7.1f} ms   of {len(waits)}"


def measure(url: str, token: str, here: Cancel, there: Cancel) -> dict[str, str]:
    """`here` asks the server that the socket is on, `there` is another process."""
    with Client(url, token) as client:

        def one(cancel: Cancel) -> float:
            job, woken = begin(client, QUIET, socket=True)
            at = accepted(client, job, cancel)
            return woken() - at

        found = {
            "by socket": [one(here) for _ in range(JOBS)],
            "by socket, accepted elsewhere": [one(there) for _ in range(JOBS)],
        }
        by_heartbeat = found.setdefault("by heartbeat only, each 15 s", [])
        for _ in range(JOBS // AT_ONCE):
            waiting = [begin(client, HEARTBEAT, socket=False) for _ in range(AT_ONCE)]
            asked = [(woken, accepted(client, job, here)) for job, woken in waiting]
            by_heartbeat += [woken() - at for woken, at in asked]
    return {name: percentiles(waits) for name, waits in found.items()}


def accepted(client: Client, job: str, cancel: Cancel) -> float:
    return datetime.fromisoformat(cancel(job, client.job(job)["spec_digest"])).timestamp()


def begin(client: Client, timing: Timing, socket: bool) -> Waiting:
    """A run whose step waits; returns once it does."""
    begun, woken = threading.Event(), list[float]()

    def tool(step: StepContext) -> Happened:
        begun.set()
        step.cancel.wait(120)
        woken.append(time.time())
        return Happened()

    job = f"signal-{uuid4().hex}"
    client.submit(job, SPEC)
    worker = Worker(client, name="bench", tools={"": tool}, timing=timing, socket=socket)
    thread = threading.Thread(target=worker.run, args=(job,), daemon=True)
    thread.start()
    assert begun.wait(30)

    def end() -> float:
        thread.join(120)
        return woken[0]

    return job, end
