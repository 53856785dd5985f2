"""What can go wrong with a database, done to it on purpose."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import OperationalError, connection

CUT = (
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid "
)


def cut_all_but_ours() -> None:
    """Every other connection to this test's database is closed by the server; its client learns it later."""
    with connection.cursor() as cursor:
        cursor.execute(CUT + "<> pg_backend_pid()")


@contextmanager
def cut_before(number: int) -> Iterator[list[str]]:
    """This thread's connection is gone when it executes its statement `number`, once. Gives what it executed.

    SQLite has no connections to cut: there the statement says that the database is locked.
    """
    executed: list[str] = []

    def gate(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        executed.append(sql)
        if len(executed) == number:
            _cut(context["connection"])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(gate):
        yield executed


def _cut(one: Any) -> None:
    if one.vendor == "sqlite":
        raise OperationalError("database is locked")
    with another_connection() as other:
        other.execute(CUT.encode() + b"= %s", [one.connection.info.backend_pid])


@contextmanager
def another_connection() -> Iterator["psycopg.Connection[Any]"]:
    """To the same PostgreSQL database, around Django."""
    info = connection.connection.info
    with psycopg.connect(
        host=info.host, port=info.port, user=info.user, dbname=info.dbname, autocommit=True
    ) as other:
        yield other


@contextmanager
def lost_after_commit() -> Iterator[None]:
    """The next commit of this thread is done, and its answer does not arrive."""
    commit = connection._commit

    def committed() -> None:
        commit()
        connection._commit = commit
        raise OperationalError("server closed the connection unexpectedly")

    connection._commit = committed
    try:
        yield
    finally:
        connection._commit = commit
