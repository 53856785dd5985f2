"""Databases by the dozen: one migrated template, and copies of it, on either engine.

Copies, because the tables refuse DELETE and TRUNCATE: a database once written to can't be emptied again.
"""

import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import psycopg

NUMBERS = itertools.count(1)


class Engine(Protocol):
    """`vendor` is Django's word: sqlite or postgresql."""

    vendor: str

    def describe(self) -> str: ...
    def url(self, name: str) -> str: ...
    def create(self, name: str) -> None: ...
    def clone(self, source: str, name: str) -> None: ...
    def drop(self, name: str) -> None: ...


@dataclass
class SqliteEngine:
    folder: Path
    vendor = "sqlite"

    def describe(self) -> str:
        return "SQLite, in files, synchronous=FULL"

    def url(self, name: str) -> str:
        return f"sqlite:///{self.file(name)}"

    def file(self, name: str) -> Path:
        return self.folder / f"{name}.sqlite3"

    def create(self, name: str) -> None:
        """Nothing to do: the first connection makes the file."""

    def clone(self, source: str, name: str) -> None:
        shutil.copyfile(self.file(source), self.file(name))

    def drop(self, name: str) -> None:
        for file in self.folder.glob(f"{name}.sqlite3*"):
            file.unlink()


@dataclass
class PostgresEngine:
    server_url: str
    vendor = "postgresql"

    def describe(self) -> str:
        with psycopg.connect(self.server_url) as connection:
            (fsync,) = connection.execute("SHOW fsync").fetchone() or ("?",)
            return f"PostgreSQL {connection.info.server_version // 10000}, fsync {fsync} (tests only)"

    def url(self, name: str) -> str:
        return urlsplit(self.server_url)._replace(path="/" + self.real(name)).geturl()

    def real(self, name: str) -> str:
        """The server may be shared (TEST_DATABASE_URL): two runs must not meet."""
        return f"cancelboard_test_{os.getpid()}_{name}"

    def run(self, statement: str) -> None:
        with psycopg.connect(self.server_url, autocommit=True) as connection:
            connection.execute(statement.encode())

    def create(self, name: str) -> None:
        self.run(f'CREATE DATABASE "{self.real(name)}"')

    def clone(self, source: str, name: str) -> None:
        self.run(f'CREATE DATABASE "{self.real(name)}" TEMPLATE "{self.real(source)}"')

    def drop(self, name: str) -> None:
        self.run(f'DROP DATABASE IF EXISTS "{self.real(name)}" WITH (FORCE)')


@dataclass(frozen=True)
class Database:
    """A database of one test. `environment` is for processes that shall work on it too."""

    url: str
    vendor: str

    @property
    def environment(self) -> dict[str, str]:
        inherited = dict(os.environ)
        inherited.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)  # for the browser tests' own process only
        return inherited | {"DATABASE_URL": self.url, "PYTHONUNBUFFERED": "1"}


def point_django_at(url: str) -> None:
    """Closes this thread's connection, and PostgreSQL's pool; each later connection is to `url`."""
    from django.conf import settings
    from django.db import connection, connections

    from cancelboard.database import database

    connection.close()
    if connection.vendor == "postgresql":
        connection.close_pool()
    connections.settings["default"].update(database(url, settings.BASE_DIR))


@contextmanager
def own_database(engine: Engine, template: str, home: str) -> Iterator[Database]:
    """A fresh copy of `template` that Django's default connection uses until the end; then `home` again."""
    name = f"t{next(NUMBERS)}"
    engine.clone(template, name)
    try:
        point_django_at(engine.url(name))
        yield Database(engine.url(name), engine.vendor)
    finally:
        point_django_at(engine.url(home))
        engine.drop(name)
