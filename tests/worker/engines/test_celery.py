"""A real Celery worker on a real Redis, killed and redelivered to: with the adapter, and without it.

Part of `make prove`, where Celery (extra `celery`) and a redis-server are.
"""

import importlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.support.scale import PROVE
from tests.worker.conftest import Server

pytestmark = [
    pytest.mark.prove,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore"),  # of Celery and its broker
    pytest.mark.skipif(not PROVE, reason="Celery workers that are killed take a minute: make prove"),
]

ROOT = Path(__file__).parent.parent.parent.parent
APP = '''
import os, time
import redis
from celery import Celery
from runs.adapters.celery import Board
from runs.adapters.engines import current_step
from runs.worker import Client, Timing

BROKER = os.environ["BROKER"]
app = Celery("shop", broker=BROKER, backend=BROKER)
app.conf.update(
    task_acks_late=True, task_reject_on_worker_lost=True, worker_prefetch_multiplier=1,
    broker_transport_options={
        "visibility_timeout": 3, "unacked_restore_interval": 1, "unacked_restore_throttle": 1,
    },
    broker_connection_retry_on_startup=True,
)
receiver = redis.Redis.from_url(BROKER)

@app.task
def charge(order):
    """An effect, and then an answer that is long in coming. Does nothing but what it always did."""
    receiver.rpush("effects", f"charge {order}")
    until = time.monotonic() + 60
    while time.monotonic() < until and not receiver.exists("answer"):
        time.sleep(0.05)
    return f"paid {order}"

@app.task
def mail(paid, address):
    receiver.rpush("effects", f"mail {address}: {paid}")
    return "sent"

@app.task
def heeds(order):
    receiver.rpush("effects", f"heeds {order}")
    current_step().cancel.wait(30)
    current_step().cancel.raise_if_cancelled()

board = Board(
    app, lambda: Client(os.environ["URL"], os.environ["TOKEN"]), queue="mail", socket=False,
    timing=Timing(heartbeat=0.3, ttl=5, poll=0.3), terminate=True,
)
'''


@dataclass
class Shop:
    """The app, as its callers import it, and a worker of it that can be killed."""

    module: Any
    start: Callable[[], "subprocess.Popen[bytes]"]

    def effects(self) -> list[str]:
        return [each.decode() for each in self.module.receiver.lrange("effects", 0, -1)]

    def wait_for(self, what: Callable[[], object], seconds: float = 60) -> None:
        until = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < until, self.effects()
            time.sleep(0.05)


@pytest.fixture
def shop(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    pytest.importorskip("celery", reason="the extra celery is not installed")
    binary = shutil.which("redis-server")
    if binary is None:
        pytest.skip("no redis-server on PATH")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    redis = subprocess.Popen(
        [binary, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)],
        stdout=subprocess.DEVNULL,
    )
    for name, value in {
        "BROKER": f"redis://127.0.0.1:{port}/0",
        "URL": server.url,
        "TOKEN": server.token,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}",
    }.items():
        monkeypatch.setenv(name, value)
    name = f"shop_{uuid4().hex}"
    (tmp_path / f"{name}.py").write_text(APP)
    monkeypatch.syspath_prepend(str(tmp_path))
    workers: list[subprocess.Popen[bytes]] = []

    def start() -> "subprocess.Popen[bytes]":
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "celery",
            "-A",
            name,
            "worker",
            "-c",
            "1",
            "-l",
            "INFO",
        ]
        with (tmp_path / f"worker-{len(workers)}.log").open("wb") as log:
            workers.append(subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True))
        return workers[-1]

    shop = Shop(importlib.import_module(name), start)
    shop.wait_for(lambda: _answers(port), 20)
    yield shop
    for worker in workers:
        kill(worker)
    for log in sorted(tmp_path.glob("worker-*.log")):
        print(log.read_text()[-4000:])
    redis.terminate()
    redis.wait()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def kill(worker: "subprocess.Popen[bytes]") -> None:
    """The worker and its pool, as the loss of a machine does."""
    if worker.poll() is None:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def job_of(shop: Shop, order: str) -> tuple[str, Any]:
    from celery import chain

    job_id = f"order-{order}-{uuid4().hex}"
    work = chain(shop.module.charge.s(order), shop.module.mail.s("ada@example.test"))
    assert shop.module.board.submit(job_id, work).status == "admitted"
    return job_id, shop.module.app.AsyncResult(job_id)


def cancel(shop: Shop, job_id: str) -> str:
    client = shop.module.board._runner.client
    digest = client.job(job_id)["spec_digest"]
    return str(client.cancel(job_id, spec_digest=digest, cause="user_requested").status)


def test_a_chain_becomes_a_job_and_its_result_the_task_s(shop: Shop) -> None:
    shop.module.receiver.set("answer", 1)
    shop.start()
    job_id, result = job_of(shop, "7")
    assert result.get(timeout=60) == "sent"
    assert shop.effects() == ["charge 7", "mail ada@example.test: paid 7"]
    steps = shop.module.board._runner.client.job(job_id)["steps"]
    assert [(step["tool"].split(".")[1], step["state"], step["value"]) for step in steps] == [
        ("charge", "ok", '"paid 7"'),
        ("mail", "ok", '"sent"'),
    ]


def test_killed_after_a_cancel_it_is_not_sent_again_and_never_a_success(shop: Shop) -> None:
    worker = shop.start()
    job_id, result = job_of(shop, "7")
    shop.wait_for(shop.effects)
    assert cancel(shop, job_id) == "requested"
    kill(worker)
    shop.module.receiver.set("answer", 1)
    shop.start()
    shop.wait_for(result.ready)
    assert shop.effects() == ["charge 7"]
    assert result.state == "FAILURE"
    assert "unknown at step 0" in str(result.result)
    job = shop.module.board._runner.client.job(job_id)
    assert (job["control"], [step["state"] for step in job["steps"]]) == ("requested", ["unknown", "pending"])


def test_without_the_adapter_the_same_chain_is_sent_again_and_the_cancelled_succeeds(shop: Shop) -> None:
    """What this adapter is for: Celery forgets the revoke with its worker, and redelivers."""
    from celery import chain

    worker = shop.start()
    result = chain(shop.module.charge.s("7"), shop.module.mail.s("ada@example.test")).apply_async()
    shop.wait_for(shop.effects)
    result.parent.revoke()
    result.revoke()
    kill(worker)
    shop.module.receiver.set("answer", 1)
    shop.start()
    assert result.get(timeout=60) == "sent"
    assert shop.effects() == ["charge 7", "charge 7", "mail ada@example.test: paid 7"]


def test_a_cancel_between_two_tasks_revokes_the_rest(shop: Shop) -> None:
    shop.start()
    job_id, result = job_of(shop, "7")
    shop.wait_for(shop.effects)
    assert cancel(shop, job_id) == "requested"
    shop.module.receiver.set("answer", 1)
    shop.wait_for(result.ready)
    assert result.state == "REVOKED"
    assert shop.effects() == ["charge 7"]
    job = shop.module.board._runner.client.job(job_id)
    assert (job["control"], [step["state"] for step in job["steps"]]) == ("acknowledged", ["ok", "pending"])
    shop.module.board.run(job_id)  # a copy that comes late meets the board's word
    time.sleep(2)
    assert result.state == "REVOKED"
    assert shop.effects() == ["charge 7"]


def test_a_last_task_that_was_out_and_succeeded_is_a_success(shop: Shop) -> None:
    """The cancel was accepted, and came too late for what was out: that success is kept."""
    shop.start()
    job_id = f"order-{uuid4().hex}"
    shop.module.board.submit(job_id, shop.module.charge.s("7"))
    shop.wait_for(shop.effects)
    assert cancel(shop, job_id) == "requested"
    shop.module.receiver.set("answer", 1)
    result = shop.module.app.AsyncResult(job_id)
    shop.wait_for(result.ready)
    assert (result.state, result.result) == ("SUCCESS", "paid 7")
    job = shop.module.board._runner.client.job(job_id)
    assert (job["control"], job["result"]) == ("acknowledged", "succeeded")


def test_a_job_cancelled_while_it_waits_in_the_broker_is_never_begun(shop: Shop) -> None:
    job_id, result = job_of(shop, "7")
    assert cancel(shop, job_id) == "requested"
    shop.start()
    shop.wait_for(result.ready)
    assert result.state == "REVOKED"
    assert shop.effects() == []


def test_a_task_may_heed_the_cancel_itself(shop: Shop) -> None:
    shop.start()
    job_id = f"order-{uuid4().hex}"
    shop.module.board.submit(job_id, shop.module.heeds.s("7"))
    shop.wait_for(shop.effects)
    assert cancel(shop, job_id) == "requested"
    result = shop.module.app.AsyncResult(job_id)
    shop.wait_for(result.ready, 15)
    assert result.state == "FAILURE"
    assert "unknown at step 0" in str(result.result)
