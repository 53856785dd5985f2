"""A real procrastinate worker on a real PostgreSQL, killed and handed the job again.

Part of `make prove`, where procrastinate (the extra of that name) and PostgreSQL's binaries are.
"""

import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.support.postgres import OwnPostgres
from tests.support.scale import PROVE
from tests.worker.conftest import Server

pytestmark = [
    pytest.mark.prove,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not PROVE, reason="workers that are killed take half a minute: make prove"),
    pytest.mark.filterwarnings("ignore"),  # of procrastinate and its pools
]

ROOT = Path(__file__).parent.parent.parent.parent
APP = """
import os, time
import psycopg, procrastinate
from runs.adapters.procrastinate import Board
from runs.worker import Client, Timing

app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=os.environ["DSN"]))

def happened(text):
    with psycopg.connect(os.environ["DSN"], autocommit=True) as connection:
        connection.execute("INSERT INTO effects (said) VALUES (%s)", [text])

def answered():
    with psycopg.connect(os.environ["DSN"], autocommit=True) as connection:
        return connection.execute("SELECT 1 FROM effects WHERE said = 'go on'").fetchone()

@app.task(name="charge")
def charge(order):
    happened(f"charge {order}")
    until = time.monotonic() + 60
    while time.monotonic() < until and not answered():
        time.sleep(0.05)
    return "paid"

@app.task(name="mail")
def mail(to):
    happened(f"mail {to}")

board = Board(
    app, lambda: Client(os.environ["URL"], os.environ["TOKEN"]), queue="mail", socket=False,
    timing=Timing(heartbeat=0.3, ttl=5, poll=0.3),
)
"""


@dataclass
class Shop:
    module: Any
    dsn: str
    start: Callable[[], "subprocess.Popen[bytes]"]

    def ask(self, statement: str) -> list[Any]:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            asked = connection.execute(statement)  # type: ignore[call-overload]
            return [row[0] for row in asked.fetchall()] if asked.description else []

    def effects(self) -> list[str]:
        return [said for said in self.ask("SELECT said FROM effects ORDER BY at") if said != "go on"]

    def go_on(self) -> None:
        self.ask("INSERT INTO effects (said) VALUES ('go on')")

    def states(self) -> list[str]:
        return self.ask("SELECT status::text FROM procrastinate_jobs ORDER BY id")

    def wait_for(self, what: Callable[[], object], seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < until, (self.effects(), self.states())
            time.sleep(0.05)

    def submit(self) -> str:
        job_id = f"order-{uuid4().hex}"
        calls = [(self.module.charge, {"order": 7}), (self.module.mail, {"to": "ada@example.test"})]
        with self.module.app.open():
            assert self.module.board.submit(job_id, calls).status == "admitted"
        return job_id

    def job(self, job_id: str) -> Any:
        return self.module.board._runner.client.job(job_id)

    def cancel(self, job_id: str) -> str:
        client = self.module.board._runner.client
        digest = client.job(job_id)["spec_digest"]
        return str(client.cancel(job_id, spec_digest=digest, cause="user_requested").status)


@pytest.fixture
def shop(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    pytest.importorskip("procrastinate", reason="the extra procrastinate is not installed")
    postgres = OwnPostgres()
    name = f"shop_{uuid4().hex}"
    (tmp_path / f"{name}.py").write_text(APP)
    for variable, value in {
        "DSN": postgres.url,
        "URL": server.url,
        "TOKEN": server.token,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}",
    }.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.syspath_prepend(str(tmp_path))
    command = [sys.executable, "-W", "ignore", "-m", "procrastinate", "-a", f"{name}.app"]
    workers: list[subprocess.Popen[bytes]] = []

    def start() -> "subprocess.Popen[bytes]":
        with (tmp_path / f"worker-{len(workers)}.log").open("wb") as log:
            workers.append(
                subprocess.Popen([*command, "worker"], stdout=log, stderr=log, start_new_session=True)
            )
        return workers[-1]

    try:
        with psycopg.connect(postgres.url, autocommit=True) as connection:
            connection.execute("CREATE TABLE effects (said text, at timestamptz DEFAULT clock_timestamp())")
        subprocess.run([*command, "schema", "--apply"], check=True, stdout=subprocess.DEVNULL)
        yield Shop(importlib.import_module(name), postgres.url, start)
    finally:
        for worker in workers:
            kill(worker)
        for log in sorted(tmp_path.glob("worker-*.log")):
            print(log.read_text()[-4000:])
        postgres.stop()


def kill(worker: "subprocess.Popen[bytes]") -> None:
    if worker.poll() is None:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def test_a_list_of_calls_becomes_a_job(shop: Shop) -> None:
    shop.start()
    job_id = shop.submit()
    shop.go_on()
    shop.wait_for(lambda: shop.states() == ["succeeded"])
    assert shop.effects() == ["charge 7", "mail ada@example.test"]
    assert shop.job(job_id)["result"] == "succeeded"


def test_a_cancel_between_two_calls_aborts_the_rest(shop: Shop) -> None:
    shop.start()
    job_id = shop.submit()
    shop.wait_for(shop.effects)
    assert shop.cancel(job_id) == "requested"
    shop.go_on()
    shop.wait_for(lambda: shop.states() == ["aborted"])
    assert shop.effects() == ["charge 7"]
    assert shop.job(job_id)["control"] == "acknowledged"


def test_killed_after_a_cancel_and_handed_out_again_it_is_not_sent_again(shop: Shop) -> None:
    worker = shop.start()
    job_id = shop.submit()
    shop.wait_for(shop.effects)
    assert shop.cancel(job_id) == "requested"
    kill(worker)
    shop.go_on()
    # As procrastinate's own care for stalled jobs does.
    shop.ask("UPDATE procrastinate_jobs SET status = 'todo', worker_id = NULL WHERE status = 'doing'")
    shop.start()
    shop.wait_for(lambda: shop.states() == ["failed"])
    assert shop.effects() == ["charge 7"]
    job = shop.job(job_id)
    assert (job["control"], [step["state"] for step in job["steps"]]) == ("requested", ["unknown", "pending"])
