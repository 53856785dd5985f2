"""In place of the fake: the real server, as a process, on the database of this run's engine."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from runs.commands import do
from runs.demo.people import cast
from runs.ledger import clock
from runs.models import Job
from runs.permissions import Action, Actor, open_account
from runs.protocol import asks
from runs.settle import one_pass
from tests.support.server import Served
from tests.worker.conftest import Server

STAFF = {"revoke": asks.Revoke, "pause": asks.Pause, "resume": asks.Resume}


@dataclass
class RealServer:
    url: str
    token: str
    operator: Actor

    def staff(self, command: str, job_id: str, **body: Any) -> str:
        ask = STAFF[command](event_id=uuid4().hex, **body)
        return do(self.operator, job_id, ask).status

    def lapse(self, job_id: str) -> None:
        """Time can't be turned; the lease is, as if its worker had asked for a shorter one."""
        Job.objects.filter(job_id=job_id).update(lease_expires_at=clock())
        one_pass()


@pytest.fixture
def server(serve: Callable[..., Served]) -> Server:
    people = cast()
    allowed = [Action.VIEW, Action.SUBMIT, Action.CANCEL, Action.BLOCK, Action.EXECUTE]
    token = open_account(Actor.system(people["w1"].tenant), "real", allowed, queue="mail")
    return RealServer(serve(CANCELBOARD_RATE="0").url, token, Actor.of_user(people["omar"]))
