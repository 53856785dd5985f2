"""What the protocol needs from each engine is really in force on a connection Django opens."""

import subprocess
import sys
import threading

import pytest
from django.db import connection, transaction

from runs.models import Tenant
from tests.support.databases import Database
from tests.support.server import ROOT


def ask(statement: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


SQLITE = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 20_000}
POSTGRES = {
    "synchronous_commit": "on",
    "transaction_isolation": "read committed",
    "statement_timeout": "30s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "1min",
    "timezone": "UTC",
}


def test_a_connection_is_durable_and_bounded(real_db: Database) -> None:
    word, expected = ("PRAGMA", SQLITE) if real_db.vendor == "sqlite" else ("SHOW", POSTGRES)
    assert {name: ask(f"{word} {name}") for name in expected} == expected


def test_sqlite_takes_the_write_lock_when_a_transaction_begins(real_db: Database) -> None:
    if real_db.vendor != "sqlite":
        pytest.skip("PostgreSQL locks rows")
    begun, refused = threading.Event(), []

    def other() -> None:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout=0")
        try:
            with transaction.atomic():
                pass
        except transaction.DatabaseError as error:
            refused.append(str(error))
        finally:
            connection.close()
            begun.set()

    with transaction.atomic():
        thread = threading.Thread(target=other)
        thread.start()
        assert begun.wait(10)
    thread.join(10)
    assert refused == ["database is locked"]


def test_another_process_sees_what_was_committed(real_db: Database) -> None:
    Tenant.objects.create(name="acme")
    code = "from runs.models import Tenant; print([tenant.name for tenant in Tenant.objects.all()])"
    seen = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", code],
        env=real_db.environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert seen.stdout == "['acme']\n"


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_has_a_database_of_its_own(real_db: Database, turn: int) -> None:
    assert Tenant.objects.count() == 0
    Tenant.objects.create(name=f"left behind by turn {turn}")


@pytest.mark.parametrize("turn", [1, 2])
@pytest.mark.django_db
def test_the_shared_database_is_rolled_back(turn: int) -> None:
    assert Tenant.objects.count() == 0
    Tenant.objects.create(name=f"left behind by turn {turn}")
