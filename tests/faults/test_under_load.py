"""Whatever dies while clients are at work: no 500, no half change, and all that was answered is there.

A client that got 503, or nothing, sends the same again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from runs.models import User
from tests.api.cast import headers_of
from tests.races.scene import Scene
from tests.support.databases import Database, point_django_at
from tests.support.disk import a_small_disk, fill
from tests.support.faults import cut_all_but_ours
from tests.support.postgres import OwnPostgres
from tests.support.scale import scale
from tests.support.server import Served

from .load import Load

ROUNDS = scale(1, 10)
#: Its write-ahead log stays small, so that the disk can be.
SMALL = "-F -c listen_addresses= -c timezone=UTC -c min_wal_size=32MB -c max_wal_size=48MB"


@contextmanager
def loaded(environment: dict[str, str]) -> Iterator[tuple[Load, Served]]:
    """A server at work. What was answered is checked when the block has ended."""
    scene = Scene()
    headers = headers_of(User.objects.get(pk=scene.actors["w1"].user_id))
    server = Served(environment | {"CANCELBOARD_RATE": "0"}).start()
    try:
        with Load(server, headers) as load:
            load.goes_on()
            yield load, server
            load.goes_on()
        connection.close()  # it may be one of those that died
        load.assert_kept(scene.tenant)
    finally:
        server.stop()


@pytest.mark.prove
@pytest.mark.timeout(600)
def test_the_server_is_killed(real_db: Database) -> None:
    with loaded(real_db.environment) as (load, server):
        for _ in range(ROUNDS):
            server.kill()
            server.start()
            load.goes_on()
    assert load.counts["no answer"]


@contextmanager
def own_postgres(real_db: Database, folder: Path | None) -> Iterator[OwnPostgres]:
    """One that may die; Django is on it."""
    server = OwnPostgres(SMALL, folder)
    try:
        point_django_at(server.url)
        call_command("migrate", verbosity=0)
        yield server
    finally:
        point_django_at(real_db.url)
        server.stop()


@pytest.mark.prove
@pytest.mark.timeout(900)
def test_the_database_is_cut_killed_and_full(real_db: Database) -> None:
    if real_db.vendor == "sqlite":
        pytest.skip("SQLite has no server; its own limits are in test_limits.py")
    with (
        a_small_disk("192m") as disk,
        own_postgres(real_db, disk) as postgres,
        loaded(real_db.environment | {"DATABASE_URL": postgres.url}) as (load, _server),
    ):
        for _ in range(ROUNDS):
            cut_all_but_ours()
            load.goes_on()
            postgres.kill()
            postgres.restart()
            load.goes_on()
            connection.close_if_unusable_or_obsolete()
            if disk:
                filler = fill(disk)
                load.is_refused()
                filler.unlink()
                if not postgres.answers():  # it could not write its log: an administrator's turn
                    postgres.kill()
                    postgres.restart()
                load.goes_on()
    print(f"{len(load.kept)} answers; tries without one: {dict(load.counts)}")
    if disk is None:
        pytest.skip("cut and killed; not full: no disk can be mounted here")
