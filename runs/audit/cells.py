"""Cells that hold what their column cannot: whatever makes Python of such a row would stop at it.

SQLite keeps any value in any column, and an owner can drop a NOT NULL on either engine. So the database
itself is asked which cells are unfit. Each is named; the rest of the audit reads only the rows without one.
"""

from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BooleanField, DateTimeField, Func, Model, QuerySet
from django.db.models.sql.compiler import SQLCompiler

from runs.models import Claim, Job, Proposal, Step, Tenant
from runs.models import Receipt as ReceiptRow

from .findings import Breach

MODELS: tuple[type[Model], ...] = (Tenant, Job, Step, Claim, Proposal, ReceiptRow)
LATEST = "9999-12-30"  #: leaves room for a time zone
#: As Django writes a time on SQLite: a day and an hour that there are (looked at without the fraction of the
#: second, which SQLite would round), and six digits of the second, or none.
WRITTEN = """datetime(substr({0}, 1, 19), '+0 days') = substr({0}, 1, 19)
    AND substr({0}, 1, 4) > '0000' AND {0} < '{1}'
    AND (length({0}) = 19 OR {0} GLOB '???????????????????.[0-9][0-9][0-9][0-9][0-9][0-9]')"""


def readable(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Those without an unfit cell."""
    return rows.filter(Readable(rows.model))


class Readable(Func):
    """Whether all of a row's cells are fit."""

    output_field = BooleanField()

    def __init__(self, model: type[Model]) -> None:
        super().__init__()
        self.model = model

    def as_sql(  # type: ignore[override]  # Func's takes a template, which this has none of
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: Any
    ) -> tuple[str, list[Any]]:
        return f"NOT ({' OR '.join(_unfit(self.model).values())})", []


def unreadable(only: str | None = None) -> Iterator[Breach]:
    """Every unfit cell, or those in the rows of the jobs called `only`."""
    for model in MODELS:
        if only is None or model is not Tenant:
            yield from _of(model, only)


def _of(model: type[Model], only: str | None) -> Iterator[Breach]:
    table, unfit = model._meta.db_table, _unfit(model)
    show = "quote({})" if connection.vendor == "sqlite" else "{}::text"
    cells = ", ".join(f"{wrong}, {show.format(f'{table}.{name}')}" for name, wrong in unfit.items())
    tenant, job = f"(SELECT name FROM runs_tenant AS t WHERE t.id = {table}.tenant_id)", f"{table}.job_id"
    if model is Tenant:
        tenant, job = f"{table}.name", "NULL"
    elif model is not Job:
        job = f"(SELECT j.job_id FROM runs_job AS j WHERE j.id = {table}.job_id)"
    wanted = f"({' OR '.join(unfit.values())})"
    if only is not None:
        wanted = f"{_of_the_job(model, table)} AND {wanted}"
    query = f"SELECT {table}.id, {tenant}, {job}, {cells} FROM {table} WHERE {wanted}"
    with connection.cursor() as cursor:
        cursor.execute(query, None if only is None else [only])
        for number, of_tenant, of_job, *found in cursor:
            whose = str(of_tenant or "?"), None if of_job is None else str(of_job)
            for name, wrong, text in zip(unfit, found[::2], found[1::2], strict=True):
                if wrong:
                    where = f"{name} of {model._meta.model_name} {number}"
                    yield Breach(*whose, "cell", where, "what its column can hold", text)


def _of_the_job(model: type[Model], table: str) -> str:
    if model is Job:
        return f"{table}.job_id = %s"
    return f"{table}.job_id IN (SELECT id FROM runs_job WHERE job_id = %s)"


def _unfit(model: type[Model]) -> dict[str, str]:
    """By column that can hold something unfit: the SQL that says whether it does."""
    found: dict[str, str] = {}
    for column in model._meta.concrete_fields:
        name, fits = f"{model._meta.db_table}.{column.column}", _fits(column)
        missing = f"{name} IS NOT NULL AND " if column.null else f"{name} IS NULL OR "
        if fits or not column.null:
            found[str(column.column)] = f"({missing}NOT ({fits.format(name, LATEST) or 'true'}))"
    return found


def _fits(column: Any) -> str:
    """SQL of a value that is there; empty where the database sees to it."""
    is_time = isinstance(column, DateTimeField)
    if connection.vendor == "postgresql":
        return "{0} >= '0001-01-02' AND {0} < '{1}'" if is_time else ""
    if is_time:
        return f"typeof({{0}}) = 'text' AND coalesce({WRITTEN}, false)"
    is_text = (column.db_type(connection) or "").startswith(("varchar", "text"))
    return f"typeof({{0}}) = '{'text' if is_text else 'integer'}'"
