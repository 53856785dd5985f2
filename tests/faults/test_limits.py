"""A database that is at one of its limits: the doors answer 503 with Retry-After, nothing is half done, what
was answered before is there, and the same request is carried out once the limit has gone.

Deadlocks, the time-outs and the pool are PostgreSQL's; the file and its one write lock are SQLite's.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client

from runs.audit import breaches, snapshot
from runs.commands import spine
from runs.models import Job, Receipt, User
from runs.permissions.locks import TENANT_LOCK
from tests.api.cast import headers_of
from tests.races.meeting import PATIENCE, Side, wait_until
from tests.races.pairs import TWO
from tests.races.scene import Scene, spec
from tests.support.databases import Database, point_django_at
from tests.support.disk import a_small_disk, fill
from tests.support.faults import another_connection


@dataclass
class Doors:
    """The API by a token and the board by a session, of the same tenant; it keeps what was answered."""

    scene: Scene = field(default_factory=Scene)
    client: Client = field(default_factory=lambda: Client(SERVER_NAME="localhost"))
    kept: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.worker, self.person = (
            headers_of(User.objects.get(pk=self.scene.actors[who].user_id)) for who in ("w1", "lena")
        )
        self.post("/jobs", {"job_id": "j", "spec": spec()})

    def post(self, path: str, body: dict[str, Any]) -> HttpResponse:
        answer = self.client.post(f"/api/v1{path}", json.dumps(body), "application/json", headers=self.worker)
        if answer.status_code != 503:
            self.kept.append(answer.json())
        return answer

    def cancel(self) -> HttpResponse:
        return self.post("/jobs/j/cancel", {"event_id": "a", "spec_digest": TWO})

    def read(self) -> HttpResponse:
        return self.client.get("/api/v1/jobs/j", headers=self.worker)

    def page(self) -> HttpResponse:
        return self.client.get("/jobs/j/", headers=self.person)

    def all_is_kept(self) -> bool:
        """Every answer's receipt is there as it was told, and nothing is half there."""
        told = {answer["receipt"]["digest"] for answer in self.kept if answer["receipt"]}
        with snapshot():
            assert list(breaches()) == []
        return told <= set(Receipt.objects.values_list("digest", flat=True))


def is_busy(answer: HttpResponse) -> bool:
    return answer.status_code == 503 and answer["Retry-After"] == "1"


@pytest.fixture
def doors(real_db: Database) -> Doors:
    return Doors()


@pytest.fixture
def change(doors: Doors, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Other settings for each connection from now on, in every thread; and a command gives up sooner."""
    monkeypatch.setattr(spine, "PATIENCE", 0.5)

    def changed(name: str = "OPTIONS", **given: Any) -> None:
        value = given or {}
        before = connection.settings_dict[name]
        connection.close()
        if connection.vendor == "postgresql":
            connection.close_pool()
        monkeypatch.setitem(connection.settings_dict, name, {**before, **value})

    return changed


def only(vendor: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        f"config.getoption('db') != '{vendor}'", reason=f"{vendor} alone has this limit"
    )


@contextmanager
def held(statement: bytes, *parameters: Any) -> Iterator[None]:
    """Somebody beside us holds what the statement locks, in an open transaction."""
    with another_connection() as other, other.transaction():
        other.execute(statement, parameters)
        yield


ROW = b"SELECT 1 FROM runs_job WHERE job_id = 'j' FOR UPDATE"


@only("postgres")
@pytest.mark.parametrize("timeout", ["statement_timeout", "lock_timeout"])
def test_a_time_out_of_the_server(
    doors: Doors, change: Callable[..., None], caplog: pytest.LogCaptureFixture, timeout: str
) -> None:
    options = connection.settings_dict["OPTIONS"]["options"]
    change(options=f"{options} -c statement_timeout=30s -c lock_timeout=30s -c {timeout}=100ms")
    connection.ensure_connection()
    with held(ROW):
        assert is_busy(doors.cancel())
        assert doors.read().status_code == 200, "a read waits for nobody"
        assert doors.page().status_code == 200
    assert f"due to {timeout.replace('_', ' ')}" in caplog.text
    assert doors.cancel().status_code == 202
    assert doors.all_is_kept()


@only("postgres")
def test_a_deadlock_is_tried_again(doors: Doors, caplog: pytest.LogCaptureFixture) -> None:
    """Somebody has the job's row and wants the tenant, whose share the command holds: it is the victim."""
    connection.ensure_connection()
    command = Side(doors.cancel)
    command.stop_after = 1 + next(
        number for number, sql in enumerate(seen(doors)) if "pg_advisory_xact_lock_shared" in sql
    )
    with another_connection() as other:
        other.execute(b"SET deadlock_timeout = '1h'")  # it looks for no deadlock itself
        with other.transaction():
            other.execute(ROW)
            command.start()
            assert command.stopped.wait(PATIENCE)
            tenant = (TENANT_LOCK, doors.scene.tenant.pk)
            waits = Side(lambda: other.execute(b"SELECT pg_advisory_xact_lock(%s, %s)", tenant)).start()
            wait_until(lambda: stuck() == 1)
            command.go.set()
            waits.join()
    assert command.join().status_code == 202
    assert "deadlock detected" in caplog.text
    assert doors.all_is_kept()


def seen(doors: Doors) -> list[str]:
    """The statements of a cancel, of another job."""
    doors.post("/jobs", {"job_id": "other", "spec": spec()})
    body = {"event_id": "other", "spec_digest": TWO}
    side = Side(lambda: doors.post("/jobs/other/cancel", body)).start()
    assert side.join().status_code == 202
    return side.statements


def stuck() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return int(cursor.fetchone()[0])


@only("postgres")
def test_an_exhausted_pool(doors: Doors, change: Callable[..., None]) -> None:
    change(pool={"min_size": 1, "max_size": 2, "timeout": 0.2})
    holders = [Side(hold, 1).start() for _ in range(2)]
    for holder in holders:
        assert holder.stopped.wait(PATIENCE)
    assert is_busy(doors.cancel())
    assert is_busy(doors.read())
    assert is_busy(doors.page())
    for holder in holders:
        holder.go.set()
        holder.join()
    assert doors.cancel().status_code == 202
    assert doors.read().status_code == doors.page().status_code == 200
    assert doors.all_is_kept()


def hold() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


HOLDER = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


@only("sqlite")
def test_another_process_holds_the_write_lock_past_the_time_out(
    doors: Doors, change: Callable[..., None]
) -> None:
    change(timeout=0.2)
    command = [sys.executable, "-c", HOLDER, connection.settings_dict["NAME"]]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        assert is_busy(doors.cancel())
        assert doors.read().status_code == 200, "a read waits for nobody"
        assert doors.page().status_code == 200
        holder.communicate()
    assert doors.cancel().status_code == 202
    assert doors.all_is_kept()


def submits_until_busy(doors: Doors) -> str:
    """The id of the one that was not taken."""
    for number in count():
        job_id = f"j{number}"
        answer = doors.post("/jobs", {"job_id": job_id, "spec": spec(*["A step with a name"] * 20)})
        if answer.status_code != 201:
            assert is_busy(answer), answer.content
            return job_id
    raise AssertionError


@only("sqlite")
def test_a_file_that_may_not_grow(doors: Doors, change: Callable[..., None]) -> None:
    with connection.cursor() as cursor:
        pages = cursor.execute("PRAGMA page_count").fetchone()[0]
    init = connection.settings_dict["OPTIONS"]["init_command"]
    change(init_command=f"{init}; PRAGMA max_page_count={pages + 20}")
    refused = submits_until_busy(doors)
    assert not Job.objects.filter(job_id=refused).exists()
    assert doors.read().status_code == 200
    change(init_command=init)
    assert doors.post("/jobs", {"job_id": refused, "spec": spec()}).status_code == 201
    assert doors.all_is_kept()


@only("sqlite")
def test_a_file_that_may_only_be_read(doors: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    file = connection.settings_dict["NAME"]
    connection.close()
    with monkeypatch.context() as reading:
        reading.setitem(connection.settings_dict, "NAME", f"file:{file}?mode=ro")
        assert is_busy(doors.cancel())
        assert doors.read().status_code == 200
        connection.close()
    assert doors.cancel().status_code == 202
    assert doors.all_is_kept()


@only("sqlite")
def test_a_full_disk(real_db: Database) -> None:
    with a_small_disk("8m") as disk:
        if disk is None:
            pytest.skip("no disk can be mounted here")
        file = disk / "full.sqlite3"
        connection.close()
        shutil.copyfile(Path(connection.settings_dict["NAME"]), file)
        point_django_at(f"sqlite:///{file}")
        try:
            doors = Doors()
            filler = fill(disk)
            refused = submits_until_busy(doors)
            filler.unlink()
            assert doors.post("/jobs", {"job_id": refused, "spec": spec()}).status_code == 201
            assert doors.all_is_kept()
        finally:
            point_django_at(real_db.url)
