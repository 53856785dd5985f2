"""What an owner puts where it can't be (SQLite keeps anything anywhere): a named finding, no traceback."""

import json
from collections.abc import Iterator
from itertools import cycle
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.db.models import DateTimeField, Model

from runs.audit import breaches, snapshot
from runs.audit.cells import MODELS
from runs.models import Job, Receipt, Step
from tests.support.scale import scale

from .cast import Story
from .tampering import found, rechain, tampering

TRIES = scale(30, 600)

NO_NUMBERS = ["'many'", "x'00ff'", "1.5"]
NO_TEXTS = ["x'ff'"]
NO_TIMES = [
    *("'yesterday'", "'now'", "5", "x'ff'", "'2026-11-29'", "'2026-02-31 10:00:00'", "'2026-11-29 24:00:00'"),
    *(
        "'0000-01-01 00:00:00'",
        "'9999-12-31 23:59:59'",
        "'2026-11-29 10:00:00+00:00'",
        "'2026-11-29 10:00:00.1'",
    ),
]
FAR = ["'infinity'", "'-infinity'", "'9999-12-31T23:59:59Z'", "'0001-01-01 BC'"]
ODD = {
    kind: cycle(values)
    for kind, values in (("n", NO_NUMBERS), ("text", NO_TEXTS), ("at", NO_TIMES), ("far", FAR))
}


def odd(field: Any) -> str | None:
    """SQL of something that this column can't hold on this engine; None where there is no such thing."""
    is_time = isinstance(field, DateTimeField)
    if connection.vendor == "postgresql":
        return next(ODD["far"]) if is_time else None if field.null else "NULL"
    if is_time:
        return next(ODD["at"])
    is_text = (field.db_type(connection) or "").startswith(("varchar", "text"))
    return next(ODD["text" if is_text else "n"])


def put(model: type[Model], pk: int, **cells: str) -> None:
    """In one statement: after it, PostgreSQL refuses to alter the table."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        for column, value in cells.items():
            if value == "NULL":
                cursor.execute(f"ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL")
        changes = ", ".join(f"{column} = {value}" for column, value in cells.items())
        cursor.execute(f"UPDATE {table} SET {changes} WHERE id = {pk}")


@pytest.mark.parametrize("model", MODELS)
def test_cells_that_their_columns_cannot_hold_are_named(told: Story, model: type[Model]) -> None:
    columns = [field for field in model._meta.concrete_fields if not field.primary_key]
    with tampering():
        row = model._default_manager.order_by("pk").first()
        assert row is not None
        cells = {field.column: value for field in columns if (value := odd(field)) is not None}
        put(model, row.pk, **cells)
        named = [breach.where for breach in found() if breach.rule == "cell"]
    assert named == [f"{column} of {model._meta.model_name} {row.pk}" for column in cells]


@pytest.mark.parametrize("value", NO_TIMES + FAR)
def test_a_time_that_there_is_not(told: Story, value: str) -> None:
    if (value in FAR) != (connection.vendor == "postgresql"):
        pytest.skip("the other engine's")
    with tampering():
        job = Job.objects.get(job_id="stopped")
        put(Job, job.pk, cancel_at=value)
        cells = [b for b in breaches("stopped") if b.rule == "cell"]
    assert [(b.tenant, b.job, b.where) for b in cells] == [("acme", "stopped", f"cancel_at of job {job.pk}")]


@pytest.mark.parametrize(
    "value", ["2026-12-31 23:59:59.999999", "2028-02-29 00:00:00", "2026-11-29 12:00:00.000001"]
)
def test_a_time_that_there_is_can_be_read(told: Story, value: str) -> None:
    with tampering():
        put(Job, Job.objects.get(job_id="stopped").pk, cancel_at=f"'{value}'")
        assert {b.rule for b in breaches("stopped")} == {"I9"}


def test_the_other_jobs_are_judged_as_ever(told: Story) -> None:
    """The row counts as one that is not there; what else is wrong is still found."""
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL keeps no text in a number")
    with tampering():
        put(Receipt, Receipt.objects.get(job__job_id="completed", seq=4).pk, seq="'4th'")
        Job.objects.filter(job_id="ready").update(title="Another")
        told_of = {(b.job, b.rule) for b in found()}
    assert told_of == {("completed", "cell"), ("completed", "I10"), ("ready", "spec")}


def test_bytes_that_are_no_utf8_are_read_and_told(told: Story) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL checks its encoding")
    with tampering():
        pk = Receipt.objects.get(job__job_id="completed", seq=4).pk
        step = Step.objects.get(job__job_id="ready", ordinal=0).pk
        put(Receipt, pk, actor_name="CAST(x'ff41' AS TEXT)")
        put(Step, step, label="CAST(x'ff41' AS TEXT)")
        with snapshot():
            told_of = list(breaches())
    assert {("completed", "digest"), ("ready", "spec")} <= {(b.job, b.rule) for b in told_of}
    assert all(str(b).isprintable() and b.as_json().isascii() for b in told_of)


def test_a_job_of_no_tenant_is_named(told: Story) -> None:
    """Joined to its tenant it would be in no stream: nobody would ask about it."""
    with tampering():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL session_replication_role = replica")  # foreign keys off
        job = Job.objects.get(job_id="ready")
        put(Job, job.pk, tenant_id="99999")
        assert ("ready", "I9", f"tenant of job {job.pk}") in {(b.job, b.rule, b.where) for b in found()}


FORGED: list[Any] = [
    None,
    True,
    -1,
    2**53,
    2**70,
    10**12,
    "",
    "x",
    "ok",
    "inflight",
    [],
    [None],
    {},
    {"a": 1},
]


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to everything inside a JSON value."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from leaves(item, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    key, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = replaced(copy[key], tuple(rest), by)
    return copy


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(3))
def test_no_forgery_of_body_or_detail_stops_the_audit(told: Story, seed: int) -> None:
    """With right digests, so that all of it reaches the replay; not every forgery can be known for one."""
    chance, known = Random(seed), 0
    for _ in range(TRIES):
        with tampering():
            receipt = chance.choice(list(Receipt.objects.filter(job__isnull=False).select_related("job")))
            part = chance.choice(["body", "detail"])
            before = json.loads(getattr(receipt, part))
            after = replaced(before, chance.choice([(), *leaves(before)]), chance.choice(FORGED))
            Receipt.objects.filter(pk=receipt.pk).update(**{part: json.dumps(after)})
            if isinstance(after, dict):
                rechain(receipt.job.job_id)
            known += any(breaches(receipt.job.job_id))
    assert known > TRIES / 3
