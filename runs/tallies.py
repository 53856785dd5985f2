"""Keeps what Insights counts, from receipts and from nothing else: each once, in the order of their commits.

The settle loop calls `fold`; several loops may, one counts at a time. `recount` forgets all and counts again,
with the same result. What was archived before that is then no longer counted.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from math import log2
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Q

from runs import ledger
from runs.models import Folded, Receipt, Spell, Step, Tally
from runs.tail import HORIZON, LAST_ID

BATCH = 4000  #: receipts in one transaction
QUARTER = timedelta(minutes=15)
MARK = timedelta(hours=6)  #: how often the backlog is noted
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Ages that are told apart, youngest first: up to so long, and older than the last.
AGES = (QUARTER, timedelta(hours=1), timedelta(hours=4), timedelta(days=1))
FINE = 4  #: sizes to a doubling: each is 19 % longer than the one before

NAMED = {
    ("cancel", "requested"): "asked",
    ("dispatch", "cancelled"): "cancelled",
    ("decline", "declined"): "declined",
    ("expire", "expired"): "expired",
}
REFUSED = ("fenced", "claim_lost")
SETTLED = {"ok": "happened", "rejected": "rejected"}
#: What holds every receipt that counts, and some that don't: the database sorts out the bulk of them.
MAY_COUNT = """(r.status IN
    ('requested', 'acknowledged', 'cancelled', 'declined', 'expired', 'fenced', 'claim_lost')
    OR r.detail LIKE '%%"unknown"%%' OR r.detail LIKE '%%"disputed":{"is":true%%')"""

COLUMNS = "r.xid, r.id, r.tenant_id, r.job_id, r.seq, r.kind, r.status, r.ordinal, r.detail, r.at, j.queue"
WHERE = {
    "postgresql": f"(r.xid, r.id) > (%s, %s) AND r.xid < {HORIZON} ORDER BY r.xid, r.id",
    "sqlite": "0 = %s AND r.id > %s ORDER BY r.id",
}
END = {
    "postgresql": f"SELECT {HORIZON} - 1, {LAST_ID}",
    "sqlite": "SELECT 0, COALESCE(MAX(id), 0) FROM runs_receipt",
}

#: tenant, queue, tool, at; a spell's kind and size besides.
Place = tuple[int, str, str, datetime]
Tallies = dict[Place, Counter[str]]
Spells = Counter[tuple[int, str, str, datetime, str, int]]


class Row(NamedTuple):
    """A receipt that may count."""

    xid: int
    id: int
    tenant: int
    job: int
    seq: int
    kind: str
    status: str
    ordinal: int | None
    detail: dict[str, Any]
    at: datetime
    queue: str

    @property
    def step(self) -> dict[str, Any]:
        return self.detail.get("step") or {}

    @property
    def where(self) -> tuple[int, int | None]:
        return self.job, self.step.get("ordinal", self.ordinal)


def quarter(at: datetime) -> datetime:
    return EPOCH + (at - EPOCH) // QUARTER * QUARTER


def size(lasted: timedelta) -> int:
    """Sizes grow by 2 ** (1 / FINE); under a tenth of a second is all one."""
    return round(FINE * log2(max(0.1, lasted.total_seconds())))


def seconds(of: int) -> float:
    """The length that a size stands for, right within 9 %."""
    return float(2 ** (of / FINE))


def age(waited: timedelta) -> int:
    """Which of the ages, from 0 to 4, for what waited since the beginning of a quarter of an hour."""
    return sum(waited > each for each in AGES)


def marks(since: datetime, until: datetime) -> Iterator[datetime]:
    """The moments after `since` and up to `until`, 6 hours apart, at which the backlog is noted."""
    at = EPOCH + ((since - EPOCH) // MARK + 1) * MARK
    while at <= until:
        yield at
        at += MARK


def recount() -> int:
    """Forget all and count again. Returns how many receipts were looked at."""
    with transaction.atomic(durable=True):
        place = _place()
        if place is None:
            return 0
        Tally.objects.all().delete()
        Spell.objects.all().delete()
        place.xid, place.receipt, place.at = 0, 0, None
        place.save()
    return fold(batches=None)


def fold(batches: int | None = 10) -> int:
    """Count what was committed since. Returns how many receipts were looked at."""
    looked = 0
    while batches is None or batches > 0:
        found = _fold_once()
        looked += found
        if found < BATCH:
            break
        batches = batches and batches - 1
    return looked


@transaction.atomic(durable=True)
def _fold_once() -> int:
    place = _place()
    if place is None:
        return 0
    now, end = ledger.clock(), _ask(END)[0]
    rows = list(_next(place))
    if rows:
        tallies, spells = count(rows)
        _add_tallies(tallies)
        _add_spells(spells)
    last = (rows[-1].xid, rows[-1].id) if rows else (place.xid, place.receipt)
    whole = len(rows) < BATCH
    place.xid, place.receipt = max(last, tuple(end)) if whole else last
    place.at = now if whole else rows[-1].at
    place.save()
    return len(rows)


def _place() -> Folded | None:
    """How far it is, held until the transaction ends; None where another loop is counting."""
    Folded.objects.get_or_create(pk=1)
    return Folded.objects.select_for_update(skip_locked=connection.vendor == "postgresql").first()


def _next(place: Folded) -> Iterator[Row]:
    sql = (
        f"SELECT {COLUMNS} FROM runs_receipt r JOIN runs_job j ON j.id = r.job_id"  # noqa: S608  # our constants
        f" WHERE {MAY_COUNT} AND {WHERE[connection.vendor]} LIMIT {BATCH}"
    )
    for row in _ask({connection.vendor: sql}, (place.xid, place.receipt)):
        *found, detail, at, queue = row
        yield Row._make((*found, json.loads(detail), _time(at), queue))


def _ask(sql: dict[str, str], values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql[connection.vendor], values)
        return list(cursor.fetchall())


def _time(at: Any) -> datetime:
    """SQLite gives a time as text to who asks past the ORM."""
    return datetime.fromisoformat(at).replace(tzinfo=UTC) if isinstance(at, str) else at.astimezone(UTC)


# -- what counts as what ------------------------------------------------------------------------------------
def count(rows: Sequence[Row]) -> tuple[Tallies, Spells]:
    """What these receipts add."""
    tallies: Tallies = {}
    spells: Spells = Counter()
    tools, began = _tools(rows), _beginnings(rows)
    for row in rows:
        tool = tools.get(row.where, "")

        def add(name: str, at: datetime, tool: str = tool, row: Row = row) -> None:
            tallies.setdefault((row.tenant, row.queue, tool, quarter(at)), Counter())[name] += 1

        if name := NAMED.get((row.kind, row.status)):
            add(name, row.at, "" if name == "asked" else tool)
        if row.status in REFUSED:
            add(row.status, row.at)
        if (row.detail.get("disputed") or {}).get("is"):
            add("disputed", row.at)
        if row.kind == "checkpoint":
            asked = _last(began, (row.job, None), row.seq)
            add("confirmed", asked, "")
            if row.at > asked:  # else nothing was out, and nobody had to hear of it
                spells[(row.tenant, row.queue, "", quarter(asked), "confirm", size(row.at - asked))] += 1
        if row.step.get("to") == "unknown":
            add("opened", row.at)
        if row.step.get("from") == "unknown":
            opened = _last(began, row.where, row.seq)
            add("closed", opened)
            if row.step["to"] in SETTLED:
                add(SETTLED[row.step["to"]], row.at)
            place = (row.tenant, row.queue, tool)
            spells[(*place, quarter(opened), "settle", size(row.at - opened))] += 1
            for mark in marks(quarter(opened), row.at):
                spells[(*place, mark, "stood", age(mark - quarter(opened)))] += 1
    return tallies, spells


def _tools(rows: Iterable[Row]) -> dict[tuple[int, int | None], str]:
    jobs = {row.job for row in rows if row.where[1] is not None}
    steps = Step.objects.filter(job__in=jobs).values_list("job_id", "ordinal", "tool")
    return {(job, ordinal): tool for job, ordinal, tool in steps}


def _beginnings(rows: Iterable[Row]) -> dict[tuple[int, int | None], list[tuple[int, datetime]]]:
    """By job and step, or by job alone for its cancel: number and time of the receipts that began something
    which these receipts end."""
    jobs = {row.job for row in rows if row.kind == "checkpoint" or row.step.get("from") == "unknown"}
    began = Q(kind="cancel", status="requested") | Q(detail__contains='"to":"unknown"')
    found: dict[tuple[int, int | None], list[tuple[int, datetime]]] = {}
    receipts = Receipt.objects.filter(began, job__in=jobs).order_by("seq")
    for job, seq, kind, detail, at in receipts.values_list("job_id", "seq", "kind", "detail", "at"):
        ordinal = None if kind == "cancel" else json.loads(detail)["step"]["ordinal"]
        found.setdefault((job or 0, ordinal), []).append((seq or 0, at))
    return found


def _last(
    began: dict[tuple[int, int | None], list[tuple[int, datetime]]],
    where: tuple[int, int | None],
    before: int,
) -> datetime:
    return next(at for seq, at in reversed(began[where]) if seq < before)


# -- adding it ----------------------------------------------------------------------------------------------
TALLIED = (
    *("asked", "confirmed", "opened", "closed", "happened", "rejected", "fenced", "claim_lost"),
    *("cancelled", "declined", "expired", "disputed"),
)


def _add_tallies(tallies: Tallies) -> None:
    key = ("tenant_id", "queue", "tool", "at")
    rows = [(*place, *(counted[name] for name in TALLIED)) for place, counted in sorted(tallies.items())]
    _upsert("runs_tally", key, TALLIED, rows)


def _add_spells(spells: Spells) -> None:
    key = ("tenant_id", "queue", "tool", "at", "kind", "size")
    _upsert("runs_spell", key, ("count",), [(*place, n) for place, n in sorted(spells.items())])


def _upsert(table: str, key: Sequence[str], columns: Sequence[str], rows: list[tuple[Any, ...]]) -> None:
    """Add to what is there. Django's own can only overwrite."""
    places = ", ".join(["%s"] * (len(key) + len(columns)))
    more = ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in columns)
    sql = (
        f"INSERT INTO {table} ({', '.join((*key, *columns))}) VALUES ({places})"  # noqa: S608  # our constants
        f" ON CONFLICT ({', '.join(key)}) DO UPDATE SET {more}"
    )
    adapt = connection.ops.adapt_datetimefield_value
    ready = [tuple(adapt(cell) if isinstance(cell, datetime) else cell for cell in row) for row in rows]
    with connection.cursor() as cursor:
        cursor.executemany(sql, ready)
