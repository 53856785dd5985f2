"""Turns DATABASE_URL into Django's database settings. Opens nothing.

Two engines: SQLite, embedded, for one machine; PostgreSQL for everything else. What the protocol needs
from each (a commit that is on the disk before its answer leaves, one writer at a time) is set here and
not left to the server's defaults.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from cancelboard.environment import WrongSetting, integer

NAME = "DATABASE_URL"
REMEDY = "Write sqlite:////path/to/file.sqlite3 or postgresql://user:password@host:5432/name"
#: What may stand behind the `?` of a PostgreSQL address: where the server is and how to trust it.
LIBPQ = {"host", "port", "sslmode", "sslrootcert", "sslcert", "sslkey", "application_name", "connect_timeout"}


def database(url: str, base: Path, env: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Django's settings for the database at `url`; a relative SQLite path starts at `base`.

    Raises WrongSetting with a message that never repeats the address: it may hold a password.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise WrongSetting(NAME, f"not an address ({error})", REMEDY) from None
    if parts.scheme == "sqlite":
        return sqlite(parts, base)
    if parts.scheme in {"postgres", "postgresql"}:
        return postgresql(parts, port, env)
    raise WrongSetting(NAME, f"{parts.scheme or 'no'!r} is no database this project knows", REMEDY)


def sqlite(parts: SplitResult, base: Path) -> dict[str, Any]:
    path = unquote(parts.path)
    if parts.netloc or parts.query or not path.strip("/") or ":memory:" in path:
        raise WrongSetting(NAME, "an SQLite address names one file, and memory does not last", REMEDY)
    # sqlite:///var/x is relative, sqlite:////var/x absolute: the first slash only ends the (empty) host.
    file = base / path[1:]
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(file),
        "OPTIONS": {
            # Takes the write lock at BEGIN: select_for_update does nothing here, this is what serialises.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            # FULL: an accepted command survives a power cut. Django switches foreign keys on by itself.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL",
        },
    }


def postgresql(parts: SplitResult, port: int | None, env: Mapping[str, str]) -> dict[str, Any]:
    name = unquote(parts.path[1:])
    if not name or "/" in name:
        raise WrongSetting(NAME, "the address names no database", REMEDY)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    if unknown := sorted(set(query) - LIBPQ):
        raise WrongSetting(NAME, f"{unknown[0]!r} can't be set there", f"Known: {', '.join(sorted(LIBPQ))}")
    seconds = integer("CANCELBOARD_STATEMENT_SECONDS", 30, 0, 86_400, env)
    session = {
        "synchronous_commit": "on",
        "default_transaction_isolation": r"read\ committed",
        "statement_timeout": f"{seconds}s",
        "lock_timeout": "5s",  # then 503 and Retry-After, not a queue without an end
        "idle_in_transaction_session_timeout": "60s",
    }
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", "") or unquote(parts.hostname or ""),
        "PORT": query.pop("port", "") or str(port or ""),
        "CONN_MAX_AGE": 0,  # back to the pool after each request; more would leak one per request thread
        "CONN_HEALTH_CHECKS": True,  # a connection that died in the pool is replaced, not handed out
        "OPTIONS": {
            "pool": {"min_size": 1, "max_size": integer("CANCELBOARD_POOL", 20, 2, 1000, env), "timeout": 10},
            "server_side_binding": True,
            "prepare_threshold": 2,
            "options": " ".join(f"-c {key}={value}" for key, value in session.items()),
            **query,
        },
    }
