"""The tenant's lock (docs/protocol.md, section 4).

Who decides holds the lock shared, who changes rights or seals holds it alone: a revocation that has committed
is never overtaken. Each is a statement of its own, first in its transaction: one that waits for a lock sees
the rest of the database as it was before the wait. SQLite needs none: BEGIN IMMEDIATE lets one writer in.
"""

from zlib import crc32

from django.db import connection, transaction

#: The first half of the advisory lock's key: "cb".
TENANT_LOCK = 0x6362
PRINCIPAL_LOCK = 0x6364
RECEIVER_LOCK = 0x6365


def lock_shared(tenant_id: int) -> None:
    """Rights and seals of the tenant stay as they are until the transaction ends."""
    _lock("pg_advisory_xact_lock_shared", TENANT_LOCK, tenant_id)


def lock_exclusive(tenant_id: int) -> None:
    """Nobody else decides in the tenant until the transaction ends."""
    _lock("pg_advisory_xact_lock", TENANT_LOCK, tenant_id)


def lock_principal(user_id: int) -> None:
    """Nobody else counts what the principal did until the transaction ends. After all other locks."""
    _lock("pg_advisory_xact_lock", PRINCIPAL_LOCK, user_id)


def lock_receiver(name: str) -> None:
    """Nobody else books look-ups at this receiver until the transaction ends. With no other lock."""
    _lock("pg_advisory_xact_lock", RECEIVER_LOCK, crc32(name.encode()))


def _lock(function: str, kind: int, number: int) -> None:
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError("a lock outside a transaction would hold nothing")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {function}(%s, %s)", [kind, number % 2**31])
