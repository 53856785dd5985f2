"""Rows of a model by plain SQL: the statements that Django would make, composed once and not at every call,
which would be most of a command's time. For the path that every command takes; all else asks Django.

`where` is written with column names and `%s`. Values go through the model's own fields, on both engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Field, Model
from django.db.models.fields import NOT_PROVIDED

M = TypeVar("M", bound=Model)
Column = tuple[type[Model], str] | str  #: a model and the name of one of its fields; or SQL, as it is
Convert = Callable[[Any, Any, Any], Any]


def values(columns: tuple[Column, ...], tail: str, *params: Any) -> list[tuple[Any, ...]]:
    """`SELECT columns tail`, each value as the model would hold it. `tail` begins with FROM."""
    names, converters = _reading(columns, connection.vendor)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {names} {tail}", params)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return [_converted(row, converters) for row in found] if converters else found


def rows(model: type[M], where: str, *params: Any, lock: bool = False) -> list[M]:
    """The rows; locked to the end of the transaction where asked for (on SQLite it holds the one lock)."""
    columns, names, table = _whole(model)
    tail = f"FROM {table} WHERE {where}"
    if lock and connection.vendor == "postgresql":
        tail += " FOR UPDATE"
    made = []
    for row in values(columns, tail, *params):
        one = model.from_db("default", names, row)
        one._as_read = row  # type: ignore[attr-defined]
        made.append(one)
    return made


def first(model: type[M], where: str, *params: Any, lock: bool = False) -> M | None:
    return next(iter(rows(model, f"{where} LIMIT 1", *params, lock=lock)), None)


def insert(*new: M) -> None:
    """Rows of one model; a single one learns its id."""
    fields, statement = _inserting(type(new[0]), len(new))
    with connection.cursor() as cursor:
        cursor.execute(statement, [_ready(field, one) for one in new for field in fields])
        ids = cursor.fetchall()
    if len(new) == 1:
        new[0].pk = ids[0][0]
        new[0]._state.adding = False
    for one in new:
        one._as_read = _now(one)  # type: ignore[attr-defined]


def update(one: Model) -> None:
    """Write what has changed since the row was read or inserted; nothing where nothing has."""
    was, is_now = one._as_read, _now(one)  # type: ignore[attr-defined]
    changed = [
        field
        for field, old, new in zip(type(one)._meta.concrete_fields, was, is_now, strict=True)
        if old != new
    ]
    if not changed:
        return
    sets = ", ".join(f'"{field.column}" = %s' for field in changed)
    with connection.cursor() as cursor:
        cursor.execute(
            f'UPDATE "{type(one)._meta.db_table}" SET {sets} WHERE id = %s',
            [*(_ready(field, one) for field in changed), one.pk],
        )
    one._as_read = is_now  # type: ignore[attr-defined]


def _now(one: Model) -> tuple[Any, ...]:
    return tuple(getattr(one, field.attname) for field in type(one)._meta.concrete_fields)


def _ready(field: Field[Any, Any], one: Model) -> Any:
    return field.get_db_prep_save(getattr(one, field.attname), connection)


@cache
def _inserting(model: type[Model], many: int) -> tuple[list[Field[Any, Any]], str]:
    """The fields a new row is given (not its id, nor what the database makes itself), and the statement."""
    given = [
        field
        for field in model._meta.concrete_fields
        if not field.primary_key and field.db_default is NOT_PROVIDED
    ]
    names = ", ".join(f'"{field.column}"' for field in given)
    marks = ", ".join([f"({', '.join(['%s'] * len(given))})"] * many)
    return given, f'INSERT INTO "{model._meta.db_table}" ({names}) VALUES {marks} RETURNING id'


@cache
def _whole(model: type[Model]) -> tuple[tuple[Column, ...], list[str], str]:
    fields = model._meta.concrete_fields
    columns = tuple((model, field.name) for field in fields)
    return columns, [field.attname for field in fields], f'"{model._meta.db_table}"'


@cache
def _reading(
    columns: tuple[Column, ...], vendor: str
) -> tuple[str, tuple[tuple[int, list[Convert], Any], ...]]:
    """The columns' names in SQL, and the converters of those that need any on this engine."""
    names, converters = [], []
    for place, each in enumerate(columns):
        if isinstance(each, str):
            names.append(each)
            continue
        model, name = each
        field = model._meta.get_field(name)
        assert isinstance(field, Field)
        column = field.get_col(model._meta.db_table)
        names.append(f'"{model._meta.db_table}"."{field.column}"')
        if needed := [*connection.ops.get_db_converters(column), *field.get_db_converters(connection)]:
            converters.append((place, needed, column))
    return ", ".join(names), tuple(converters)


def _converted(row: Iterable[Any], converters: tuple[tuple[int, list[Convert], Any], ...]) -> tuple[Any, ...]:
    made = list(row)
    for place, needed, column in converters:
        for convert in needed:
            made[place] = convert(made[place], column, connection)
    return tuple(made)
