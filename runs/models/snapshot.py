"""Reading several tables as they were at one moment, beside the writers."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def snapshot() -> Iterator[None]:
    """All that is read inside was true at one moment, and no writer waits for it. Writes nothing.

    PostgreSQL: REPEATABLE READ, READ ONLY. SQLite: a deferred transaction, which in WAL mode is a snapshot
    from its first read on; Django's own `atomic` would take the write lock here. Inside a transaction, or
    another snapshot, it adds nothing.
    """
    if _inside():
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    else:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")


def _inside() -> bool:
    """SQLite's snapshot is none of Django's transactions: only its own connection knows of it."""
    if connection.in_atomic_block or connection.vendor == "postgresql":
        return connection.in_atomic_block
    connection.ensure_connection()
    return bool(connection.connection.in_transaction)
