"""Real workers on a line on which requests and answers are lost, late, doubled, reordered and cut, while jobs
are cancelled and claims revoked: no effect is called twice, and what each effect said arrives or its step is
visibly unknown.
"""

import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import connection

from runs import settle
from runs.audit import breaches, snapshot
from runs.models import Receipt, User
from runs.worker import Client, Happened, How, Retry, StepContext, Timing, Worker
from tests.api.cast import token_for
from tests.races.scene import Scene
from tests.support.scale import scale
from tests.support.server import Served

from .network import FAIR, Storm

JOBS = scale(8, 64)
AT_ONCE = 8
STEPS = 3
PATIENCE = 0.7  #: of a worker with one request
QUICK = Retry(first=0.02, longest=0.2)
TIMING = Timing(heartbeat=1, ttl=5, poll=1)
#: Where the run can be gone on with: by whoever holds the claim next.
GOES_ON = (How.LOST, How.HELD, How.STOPPED)


def name(number: int) -> str:
    return f"j{number}"


def spec(number: int) -> dict[str, Any]:
    steps = [{"label": f"Mail {step}", "tool": "smtp"} for step in range(STEPS)]
    return {"queue": "mail", "dispatch": "marked" if number % 2 else "unmarked", "steps": steps}


@dataclass
class House:
    """An engine with its workers, and the receiver of their effects, which deduplicates nothing."""

    scene: Scene
    client: Client
    taken: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    ended: dict[str, How] = field(default_factory=dict)

    def work(self, number: int) -> None:
        """Submit a job and run it until there is nothing left that may be done."""
        self.client.submit(name(number), spec(number))
        self.run(name(number))

    def run(self, job_id: str) -> None:
        worker = Worker(
            self.client, name="w1", tools={"smtp": self.send}, timing=TIMING, retry=QUICK, socket=False
        )
        while (ended := worker.run(job_id).how) in GOES_ON:
            pass
        self.ended[job_id] = ended

    def send(self, step: StepContext) -> Happened:
        """Takes the effect; in some jobs somebody intervenes before its outcome is told."""
        step.dispatch()
        taken = self.taken.setdefault((step.job_id, step.ordinal), [])
        taken.append(f"250 queued {step.idempotency_key} {len(taken)}")
        if step.ordinal == 1:
            self.intervene(int(step.job_id[1:]))
        return Happened(taken[-1])

    def intervene(self, number: int) -> None:
        if number % 8 in (2, 3):
            self.client.cancel(name(number), spec=spec(number))
        if number % 8 in (4, 5):
            self.scene.do("revoke", name(number))
            connection.close()  # this thread's

    def all_at_once(self, work: Callable[[Any], None], items: list[Any]) -> None:
        """A settle loop beside it."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            runs = [pool.submit(work, item) for item in items]
            while wait(runs, timeout=0.2).not_done:
                settle.one_pass()
        for run in runs:
            run.result()


@pytest.mark.prove
@pytest.mark.timeout(600)
def test_no_effect_twice_and_every_outcome_arrives_or_is_visibly_unknown(
    serve: Callable[..., Served],
) -> None:
    scene, server = Scene(), serve(CANCELBOARD_RATE="0")
    token = token_for(User.objects.get(pk=scene.actors["w1"].user_id))
    storm = Storm(server.url, PATIENCE)
    try:
        with Client(storm.url, token, timeout=PATIENCE, retry=QUICK) as client:
            house = House(scene, client)
            house.all_at_once(house.work, list(range(JOBS)))
            storm.abate()
            # What a late request left out comes back when its lease has ended, or is unknown from then on.
            house.all_at_once(house.run, [job for job, how in house.ended.items() if how is How.UNKNOWN])
    finally:
        storm.down()
    with Client(server.url, token) as client:
        states = Counter(state for number in range(JOBS) for state in checked(house, client, number))
    with snapshot():
        assert list(breaches()) == []
    assert states["ok"] > STEPS * JOBS / 3
    assert storm.counts.total() > storm.counts[FAIR] + JOBS
    print(f"{dict(states)}; on the line: {dict(storm.counts)}")


def checked(house: House, client: Client, number: int) -> list[str]:
    """The states of the job's steps, each as what the receiver took allows."""
    job, states = client.job(name(number)), []
    for step in job["steps"]:
        match house.taken.get((name(number), step["ordinal"]), []):
            case []:
                assert step["state"] in ("pending", "unknown"), "nothing was sent"
            case [value]:
                assert step["state"] in ("ok", "unknown"), "it was sent"
                assert told(house.scene, name(number), step["ordinal"]) == [value]
                assert step["state"] == "unknown" or step["value"] == value
            case twice:
                pytest.fail(f"an effect was called twice: {twice}")
        assert (step["state"] == "unknown") == (job["unsettled"] == step["ordinal"])
        states.append(step["state"])
    return states


def told(scene: Scene, job_id: str, ordinal: int) -> list[str]:
    """The outcomes of a step that have arrived, as its settlement or as testimony."""
    reports = Receipt.objects.filter(tenant=scene.tenant, job_ref=job_id, kind="report", ordinal=ordinal)
    bodies = [json.loads(body) for body in reports.order_by("seq").values_list("body", flat=True)]
    return [body["value"] for body in bodies if body["outcome"] == "ok"]
