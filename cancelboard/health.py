"""`/healthz`, `/readyz`, `/metrics`: for the machines that watch this process, not for people.

Answered before Django's middleware: a prober knows no host name, has no session and follows no redirect.
"""

import json
from datetime import UTC, datetime
from hmac import compare_digest
from typing import Any

from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from prometheus_client import CONTENT_TYPE_LATEST, Gauge, generate_latest

from runs import ledger, metrics, settle
from runs.consumers.hub import hub

TAILER_LAG = 10.0  #: seconds from which on this process tells its sockets too little
UNSETTLED = Gauge("cancelboard_unsettled_steps", "Steps nobody knows the outcome of, by age", ["age"])
SETTLE_LAG = Gauge("cancelboard_settle_lag_seconds", "How long the oldest due finding has waited for a loop")
TAILER = Gauge("cancelboard_tailer_lag_seconds", "How long ago this process read the ledger to its end")
SOCKETS = Gauge("cancelboard_sockets", "Open sockets and event streams of this process")


async def health(scope: Any, receive: Any, send: Any) -> None:
    """ASGI, one for all three paths."""
    code, body, content_type = await ANSWERS[scope["path"]](scope)
    headers = [(b"content-type", content_type.encode()), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": code, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def healthz(scope: Any) -> tuple[int, bytes, str]:
    """The process answers. It asks nobody else: a database that is away is no reason to restart it."""
    return _json(200, {"ok": True})


async def readyz(scope: Any) -> tuple[int, bytes, str]:
    """Whether requests should come here: the database answers, is migrated, and the tailer is not behind.

    A settle loop that is behind is told, but it is no fault of this process.
    """
    checks = await database_sync_to_async(_database)()
    checks["tailer_lag"] = tailer = _tailer_lag()
    ready = checks["database"] and checks["migrations"] and (tailer is None or tailer < TAILER_LAG)
    return _json(200 if ready else 503, {"ready": ready, **checks})


async def metrics_(scope: Any) -> tuple[int, bytes, str]:
    """In Prometheus' text format, to who has CANCELBOARD_METRICS_TOKEN; without that setting to nobody."""
    token = settings.CANCELBOARD_METRICS_TOKEN
    given = dict(scope["headers"]).get(b"authorization", b"")
    if not token or not compare_digest(given, b"Bearer " + token.encode()):
        return _json(404, {"ok": False})
    await database_sync_to_async(_read_database)()
    TAILER.set(_tailer_lag() or 0)
    SOCKETS.set(sum(map(len, hub.listeners.values())))
    return 200, await sync_to_async(generate_latest)(), CONTENT_TYPE_LATEST


ANSWERS = {"/healthz": healthz, "/readyz": readyz, "/metrics": metrics_}


def _json(code: int, body: dict[str, Any]) -> tuple[int, bytes, str]:
    return code, json.dumps(body).encode(), "application/json"


def _database() -> dict[str, Any]:
    try:
        executor = MigrationExecutor(connection)
        migrated = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        lag = settle.lag(ledger.clock()) if migrated else None
    except DatabaseError:
        return {"database": False, "migrations": None, "settle_lag": None}
    return {"database": True, "migrations": migrated, "settle_lag": lag}


def _read_database() -> None:
    now = ledger.clock()
    SETTLE_LAG.set(settle.lag(now))
    for age, count in metrics.unsettled_by_age(now).items():
        UNSETTLED.labels(age).set(count)


def _tailer_lag() -> float | None:
    """Seconds; None while nobody listens here, and so nobody reads."""
    read_at = hub.read_at
    return None if read_at is None else max(0.0, (datetime.now(UTC) - read_at).total_seconds())
