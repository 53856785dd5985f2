"""A place in a list that the caller holds for us: signed, and a key of the last row, never an offset."""

from datetime import datetime
from typing import Any

from django.core import signing
from django.db.models import F, QuerySet
from django.db.models.fields.tuple_lookups import TupleGreaterThan, TupleLessThan

from runs.errors import FieldError, Invalid

SALT = "runs.queries.cursor"


def page(
    rows: QuerySet[Any], cursor: str | None, limit: int, *, oldest: bool = False, by: str = "created_at"
) -> tuple[list[Any], str | None]:
    """The next `limit` of `rows`, newest (or oldest) first by the time in `by`, and the cursor after them
    (None: that was all).

    Raises Invalid (`cursor`) for one that we did not give out.
    """
    if cursor:
        after = TupleGreaterThan if oldest else TupleLessThan
        rows = rows.filter(after((F(by), F("id")), _read(cursor)))
    order = (by, "id") if oldest else (f"-{by}", "-id")
    found = list(rows.order_by(*order)[: limit + 1])
    return cut(found, limit, by)


def cut(found: list[Any], limit: int, by: str = "created_at") -> tuple[list[Any], str | None]:
    """The first `limit` rows, and the cursor after them where there are more."""
    return found[:limit], _after(found[limit - 1], by) if len(found) > limit else None


def _after(row: Any, by: str) -> str:
    return signing.dumps([getattr(row, by).isoformat(), row.pk], salt=SALT)


def _read(cursor: str) -> tuple[datetime, int]:
    try:
        at, pk = signing.loads(cursor, salt=SALT)
    except signing.BadSignature:
        raise Invalid(
            FieldError("cursor", "was not given out by this list: begin again without it")
        ) from None
    return datetime.fromisoformat(at), pk
