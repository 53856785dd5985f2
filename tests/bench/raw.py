"""The same SQL transaction without any of our code: lock one row, insert one receipt, update the row,
commit."""

import sqlite3
from collections.abc import Callable
from urllib.parse import urlsplit

import psycopg

JOB = (
    "CREATE TABLE raw_job "
    "(id integer PRIMARY KEY, seq bigint NOT NULL, head text NOT NULL, lease text NOT NULL)"
)
RECEIPT = (
    "CREATE TABLE raw_receipt (id {serial}, job integer NOT NULL, seq bigint NOT NULL, "
    "event text NOT NULL UNIQUE, "
    "kind text NOT NULL, body text NOT NULL, detail text NOT NULL, at text NOT NULL, prev text NOT NULL, "
    "digest text NOT NULL, UNIQUE (job, seq))"
)
COLUMNS = "job, seq, event, kind, body, detail, at, prev, digest"
TEXT, DIGEST = "x" * 120, "0" * 64


def transaction(url: str) -> Callable[[], None]:
    """One such transaction at each call, on a connection of its own, durable as ours is."""
    if url.startswith("sqlite"):
        return _sqlite(urlsplit(url).path)
    return _postgresql(url)


def _sqlite(path: str) -> Callable[[], None]:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "DROP TABLE IF EXISTS raw_job"):
        connection.execute(statement)
    connection.execute("DROP TABLE IF EXISTS raw_receipt")
    connection.execute(JOB)
    connection.execute(RECEIPT.format(serial="integer PRIMARY KEY"))
    connection.execute("INSERT INTO raw_job VALUES (1, 0, ?, '')", [DIGEST])

    def once() -> None:
        connection.execute("BEGIN IMMEDIATE")
        (seq,) = connection.execute("SELECT seq FROM raw_job WHERE id = 1").fetchone()
        row = (1, seq + 1, f"e{seq}", "pause", TEXT, TEXT, "2026", DIGEST, DIGEST)
        connection.execute(
            f"INSERT INTO raw_receipt ({COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?)",
            row,
        )
        connection.execute(
            "UPDATE raw_job SET seq = ?, head = ?, lease = ? WHERE id = 1", [seq + 1, DIGEST, "2026"]
        )
        connection.execute("COMMIT")

    return once


def _postgresql(url: str) -> Callable[[], None]:
    connection = psycopg.connect(url, autocommit=True, prepare_threshold=2)
    connection.execute("DROP TABLE IF EXISTS raw_job, raw_receipt")
    connection.execute(JOB)
    connection.execute(RECEIPT.format(serial="bigserial PRIMARY KEY").encode())
    connection.execute("INSERT INTO raw_job VALUES (1, 0, %s, '')", [DIGEST])

    def once() -> None:
        with connection.transaction():
            found = connection.execute("SELECT seq FROM raw_job WHERE id = 1 FOR UPDATE").fetchone()
            assert found
            seq = found[0]
            row = (1, seq + 1, f"e{seq}", "pause", TEXT, TEXT, "2026", DIGEST, DIGEST)
            connection.execute(
                f"INSERT INTO raw_receipt ({COLUMNS}) VALUES (%s,%s,%s,%s,%s,%s,%s,%s,%s)".encode(),
                row,
            )
            connection.execute(
                "UPDATE raw_job SET seq = %s, head = %s, lease = %s WHERE id = 1", [seq + 1, DIGEST, "2026"]
            )

    return once
