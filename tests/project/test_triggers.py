"""The database itself refuses to change what was written: receipts, and grants but for one revocation."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from runs.models import Grant, Receipt, Tenant
from tests.races.scene import Scene

NOW = timezone.now()


@pytest.fixture
def scene(db: None) -> Scene:
    made = Scene()
    made.do("submit")
    made.do("pause")
    return made


def refused(change: Callable[[], Any]) -> None:
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        change()


@pytest.mark.parametrize(
    "column", [field.name for field in Receipt._meta.concrete_fields if not field.primary_key]
)
def test_no_column_of_a_receipt_is_changed(scene: Scene, column: str) -> None:
    one, other = Receipt.objects.order_by("seq")
    refused(lambda: Receipt.objects.filter(pk=other.pk).update(**{column: getattr(one, column)}))


def test_no_receipt_is_deleted(scene: Scene) -> None:
    refused(lambda: Receipt.objects.order_by("seq")[1].delete())
    refused(lambda: Receipt.objects.all()._raw_delete("default"))


def test_no_receipt_is_written_over(scene: Scene) -> None:
    """REPLACE (or an upsert) by each of the three keys that name one."""
    one, other = Receipt.objects.order_by("seq")
    for key in (["id"], ["tenant_id", "event_id"], ["job_id", "seq"]):
        refused(lambda key=key: written_over(one, other, key))  # type: ignore[misc]


def written_over(row: Receipt, old: Receipt, key: list[str]) -> None:
    """A row like `row`, of a number of its own, but with the key of `old`."""
    free = {"id": 10_000, "tenant_id": row.tenant_id, "event_id": "new", "job_id": row.job_id, "seq": 99}
    values = {field.attname: getattr(row, field.attname) for field in Receipt._meta.concrete_fields} | free
    values |= {name: getattr(old, name) for name in key}
    columns, places = ", ".join(values), ", ".join(["%s"] * len(values))
    word, end = "INSERT OR REPLACE", ""
    if connection.vendor == "postgresql":
        where = (
            " WHERE event_id IS NOT NULL"
            if "event_id" in key
            else " WHERE job_id IS NOT NULL"
            if "seq" in key
            else ""
        )
        word, end = "INSERT", f" ON CONFLICT ({', '.join(key)}){where} DO UPDATE SET status = 'x'"
    with connection.cursor() as cursor:
        cursor.execute(f"{word} INTO runs_receipt ({columns}) VALUES ({places}){end}", list(values.values()))


@pytest.mark.parametrize("table", ["runs_receipt", "runs_grant"])
def test_no_table_is_emptied(scene: Scene, table: str) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no TRUNCATE")
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        refused(lambda: cursor.execute(f"TRUNCATE {table} CASCADE"))


GRANT = {
    "action": "seal",
    "effect": "deny",
    "scope": "self",
    "reason": "because",
    "not_before": NOW,
    "expires_at": NOW,
    "granted_at": NOW,
}


@pytest.mark.parametrize("column", GRANT)
@pytest.mark.parametrize("revoked_too", [False, True])
def test_no_column_of_a_grant_is_changed(scene: Scene, column: str, revoked_too: bool) -> None:
    change = {column: GRANT[column]} | ({"revoked_at": NOW} if revoked_too else {})
    refused(lambda: Grant.objects.filter(action="view").update(**change))


def test_a_grant_is_not_given_to_somebody_else(scene: Scene) -> None:
    other = scene.actors["lena"].user_id
    refused(lambda: Grant.objects.exclude(user_id=other).update(user_id=other, revoked_at=NOW))
    tenant = Tenant.objects.create(name="other")
    refused(lambda: Grant.objects.update(tenant=tenant, revoked_at=NOW))


def test_a_grant_is_revoked_once_and_stays_so(scene: Scene) -> None:
    Grant.objects.update(revoked_at=NOW)
    for later in (NOW + timedelta(days=1), None):
        refused(lambda later=later: Grant.objects.update(revoked_at=later))  # type: ignore[misc]
    refused(lambda: Grant.objects.all()._raw_delete("default"))
