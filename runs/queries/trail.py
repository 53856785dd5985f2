"""The audit trail: who did what, when, on what. Receipts, rights given and taken, refusals, who read
evidence, and who changed accounts and what is set up, newest first, as their reader may see them.

Receipts are for those who may export their job; the rest, which names people, for those who manage grants or
may export all of the tenant.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core import signing
from django.db.models import F, Q, QuerySet

from runs.errors import FieldError, Invalid
from runs.ledger import clock
from runs.models import Alteration, Grant, Reading, Receipt, Refusal, snapshot
from runs.permissions import WHOLE, Action, Actor, Rights, rights_of, visible

PAGE, MOST = 50, 10_000
SALT = "runs.queries.trail"


@dataclass(frozen=True)
class Wanted:
    """What narrows it: a person, a kind of deed, a job or person it was done to, and a time."""

    person: str = ""
    kind: str = ""
    object: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Line:
    """`before`, `after`: what it changed, as short text; `seq`: the receipt's number in its job."""

    at: datetime
    who: str
    kind: str
    what: str
    object: str
    before: str = ""
    after: str = ""
    seq: int | None = None
    address: str = ""  #: where it came from; "" where that is not known
    reason: str = ""
    key: tuple[int, int] = (0, 0)  #: its source and row


def _receipt(row: Receipt) -> Line:
    move = json.loads(row.detail).get("step") or {}
    return Line(
        row.at,
        row.actor_name,
        "command",
        f"{row.kind}: {row.status}",
        row.job_ref or "",
        move.get("from", ""),
        move.get("to", ""),
        row.seq,
    )


def _grant(row: Grant) -> Line:
    subject = row.user.name if row.user else row.group.name if row.group else ""
    by = row.by or "system"  # type: ignore[attr-defined]
    at = row.granted_at
    return Line(at, by, "right", "grant", subject, "", str(row), reason=row.reason)


def _revoked(row: Grant) -> Line:
    subject = row.user.name if row.user else row.group.name if row.group else ""
    return Line(row.at, row.by or "system", "right", "revoke", subject, str(row), "")  # type: ignore[attr-defined]


def _refusal(row: Refusal) -> Line:
    times = f" × {row.count}" if row.count > 1 else ""
    return Line(row.minute, row.user.name, "refusal", f"{row.action}: {row.code}{times}", row.job_id)


def _reading(row: Reading) -> Line:
    what = f"read: {row.kind}"
    return Line(row.at, row.user.name, "reading", what, row.job_ref, "", row.filter, address=row.address)


def _alteration(row: Alteration) -> Line:
    by = row.by.name if row.by else "system"
    return Line(
        row.at,
        by,
        "account",
        row.what,
        row.object,
        row.before,
        row.after,
        address=row.address,
        reason=row.reason,
    )


@dataclass(frozen=True)
class Source:
    """One table of the trail; `at`, `who` and `object` name its columns; `people`: it names people."""

    kind: str
    rows: Callable[[], QuerySet[Any]]
    line: Callable[[Any], Line]
    at: str
    who: str
    object: tuple[str, ...]
    people: bool = True


SOURCES = (
    Source("command", Receipt.objects.all, _receipt, "at", "actor_name", ("job_ref",), people=False),
    Source(
        "right",
        lambda: Grant.objects.select_related("user", "group").annotate(
            at=F("granted_at"), by=F("granted_by__name")
        ),
        _grant,
        *("granted_at", "granted_by__name", ("user__name", "group__name")),
    ),
    Source(
        "right",
        lambda: (
            Grant.objects.filter(revoked_at__isnull=False)
            .select_related("user", "group")
            .annotate(at=F("revoked_at"), by=F("revoked_by__name"))
        ),
        _revoked,
        *("revoked_at", "revoked_by__name", ("user__name", "group__name")),
    ),
    Source(
        "refusal",
        lambda: Refusal.objects.select_related("user"),
        _refusal,
        "minute",
        "user__name",
        ("job_id",),
    ),
    Source(
        "reading", lambda: Reading.objects.select_related("user"), _reading, "at", "user__name", ("job_ref",)
    ),
    Source(
        "account",
        lambda: Alteration.objects.select_related("by"),
        _alteration,
        *("at", "by__name", ("object",)),
    ),
)
KINDS = tuple(dict.fromkeys(source.kind for source in SOURCES))


def may_read(rights: Rights, now: datetime) -> bool:
    """Who may see the page at all."""
    return rights.anywhere(Action.EXPORT, now) or rights.anywhere(Action.MANAGE_GRANTS, now)


@snapshot()
def page_of(
    actor: Actor, wanted: Wanted, cursor: str | None, limit: int = PAGE
) -> tuple[list[Line], str | None]:
    """A page and the cursor after it. Raises Invalid for a foreign cursor."""
    now = clock()
    rights = rights_of(actor, now)
    names = any(rights.judge(each, WHOLE, now=now).allowed for each in (Action.MANAGE_GRANTS, Action.EXPORT))
    after = _read(cursor) if cursor else None
    found = [
        line
        for number, source in enumerate(SOURCES)
        if wanted.kind in ("", source.kind) and (names or not source.people)
        for line in _lines(number, source, actor, wanted, after, now, limit)
    ]
    found.sort(key=lambda line: (line.at, line.key), reverse=True)
    if len(found) <= limit:
        return found, None
    last = found[limit - 1]
    return found[:limit], signing.dumps([last.at.isoformat(), *last.key], salt=SALT)


def _lines(
    number: int,
    source: Source,
    actor: Actor,
    wanted: Wanted,
    after: tuple[datetime, int, int] | None,
    now: datetime,
    limit: int,
) -> Iterator[Line]:
    rows = source.rows().filter(tenant_id=actor.tenant_id)
    if not source.people:
        seen = visible(rows, actor, now, Action.VIEW, "job__")
        rows = visible(seen, actor, now, Action.EXPORT, "job__")
    if wanted.person:
        rows = rows.filter(**{source.who: wanted.person})
    if wanted.object:
        named = Q(pk__in=[])
        for column in source.object:
            named |= Q(**{column: wanted.object})
        rows = rows.filter(named)
    if wanted.since:
        rows = rows.filter(**{f"{source.at}__gte": wanted.since})
    if wanted.until:
        rows = rows.filter(**{f"{source.at}__lt": wanted.until})
    if after:
        at, last, pk = after
        if number == last:
            rows = rows.filter(Q(**{f"{source.at}__lt": at}) | Q(**{source.at: at}, pk__lt=pk))
        else:
            rows = rows.filter(**{f"{source.at}__{'lte' if number < last else 'lt'}": at})
    for row in rows.order_by(f"-{source.at}", "-pk")[: limit + 1]:
        line = source.line(row)
        yield Line(**{**line.__dict__, "key": (number, row.pk)})


def _read(cursor: str) -> tuple[datetime, int, int]:
    try:
        at, number, pk = signing.loads(cursor, salt=SALT)
    except signing.BadSignature:
        raise Invalid(
            FieldError("cursor", "was not given out by this list: begin again without it")
        ) from None
    return datetime.fromisoformat(at), number, pk
