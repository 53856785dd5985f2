"""A worker whose time is not the server's: its clock is an hour off, or it is suspended past its lease."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from typing import Any

import pytest

from runs import settle
from runs.audit import breaches, snapshot
from runs.models import Job, Receipt, User
from runs.queries import jobs
from runs.worker import Client, Happened, How, StepContext, Timing, Worker, run
from tests.api.cast import token_for
from tests.races.meeting import wait_until
from tests.races.scene import REFUSED, Scene, digest
from tests.support.server import ROOT, Served

from .worker import VALUE

MAIL = [{"label": "Mail", "tool": "smtp"}]
SPEC: dict[str, Any] = {"queue": "mail", "dispatch": "marked", "steps": MAIL}
LEASE = 5
TIMING = Timing(heartbeat=1, ttl=LEASE, poll=0.5)


@pytest.fixture
def scene(serve: Callable[..., Served]) -> Scene:
    scene = Scene()
    scene.do("submit", spec=SPEC)
    return scene


@pytest.fixture
def server(scene: Scene, serve: Callable[..., Served]) -> tuple[str, str]:
    """Its address, and a token of w1."""
    return serve().url, token_for(User.objects.get(pk=scene.actors["w1"].user_id))


def off(hours: int) -> type[datetime]:
    class Off(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Off":
            return cls.fromtimestamp(datetime.now(UTC).timestamp() + hours * 3600, tz)

    return Off


@pytest.mark.timeout(90)
def test_a_worker_whose_clock_is_an_hour_off(
    scene: Scene, server: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for a lease for as long as that lasts, and dates nothing itself."""
    scene.do("submit", "k", spec=SPEC)
    for job_id, hours in (("j", -1), ("k", 1)):
        monkeypatch.setattr(run, "datetime", off(hours))
        scene.do("claim", job_id, worker="another", ttl_seconds=LEASE)
        with Client(*server) as client:
            worker = Worker(client, name="w1", tools={"smtp": send}, timing=TIMING, socket=False)
            ended = worker.run(job_id)
        assert (ended.how, ended.result) == (How.FINISHED, "succeeded")
        times = list(Receipt.objects.filter(job_ref=job_id).order_by("seq").values_list("at", flat=True))
        assert times == sorted(times)
        assert times[-1] < datetime.now(UTC)
        _, held, taken_over, *_ = times
        assert LEASE <= (taken_over - held).total_seconds() < LEASE + 15


def send(step: StepContext) -> Happened:
    step.dispatch()
    return Happened(VALUE)


class Suspended:
    """A worker that has been told `dispatched`, has sent nothing yet, and does not run."""

    def __init__(self, url: str, token: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.worker", url, token, "j"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.says() == "dispatched"
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)

    def says(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().rstrip("\n")

    def goes_on(self) -> str:
        """It sends, reports, and says how its run ended."""
        self.process.send_signal(signal.SIGCONT)
        assert self.process.stdin
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        assert self.says() == "sent"
        return self.says()

    def ends(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def suspended(url: str, token: str) -> Iterator[Suspended]:
    worker = Suspended(url, token)
    try:
        yield worker
    finally:
        worker.ends()


def lapsed() -> bool:
    return bool(settle.one_pass()["lapsed"])


def step(scene: Scene) -> dict[str, Any]:
    found: dict[str, Any] = jobs.one(scene.actors["lena"], "j")["steps"][0]
    return found


@pytest.mark.timeout(90)
def test_a_worker_suspended_past_its_lease_gives_testimony(scene: Scene, server: tuple[str, str]) -> None:
    """Between the answer and the send; when it goes on, another one has taken over, and a cancel has come."""
    with suspended(*server) as worker:
        wait_until(lapsed)
        assert step(scene)["state"] == "unknown"
        assert scene.do("claim", worker="another").status == "claimed"
        assert scene.do("reserve", claim=1).status == "unknown", "no permission to send it again"
        assert scene.do("cancel", spec_digest=digest(*MAIL, dispatch="marked")).status == "requested"
        assert worker.goes_on() == How.LOST
    assert Receipt.objects.get(kind="report").status == "fenced"
    shown = step(scene)
    assert (shown["state"], shown["testimony"][0]["value"]) == ("unknown", VALUE)
    assert Job.objects.get().control == "requested", "nothing is confirmed while it is unknown"
    scene.do("revoke")
    scene.do("reconcile", who="lena", ordinal=0, outcome="rejected", evidence=REFUSED)
    assert (step(scene)["state"], step(scene)["disputed"]) == ("rejected", True)
    with snapshot():
        assert list(breaches()) == []


@pytest.mark.timeout(90)
def test_it_settles_its_step_where_nobody_has_taken_over(scene: Scene, server: tuple[str, str]) -> None:
    with suspended(*server) as worker:
        wait_until(lapsed)
        assert step(scene)["state"] == "unknown"
        assert worker.goes_on() == How.FINISHED
    assert (step(scene)["state"], step(scene)["value"]) == ("ok", VALUE)
    with snapshot():
        assert list(breaches()) == []
