"""What came about by hour or day."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from runs import tallies
from runs.board.drawing import (
    Dot,
    Key,
    Line,
    Log,
    Plot,
    Text,
    along,
    column,
    grid,
    nth,
    pct,
    ticks,
    top,
)
from runs.board.span import Span
from runs.queries.insights import Counts

from .shared import at_least, counted, lasted


def confirm_times(counts: Counts, over: Span) -> list[list[tuple[float, int, bool]]]:
    """By hour or day of the cancel: how long confirmations took, or have taken so far."""
    found: list[list[tuple[float, int, bool]]] = [[] for _edge in over.edges]
    for at, size, count in counts.confirm:
        found[over.index(at)].append((tallies.seconds(size), count, True))
    for at, sums in counts.quarters:
        if waits := sums["asked"] - sums["confirmed"]:
            found[over.index(at)].append((at_least(at, over.now), waits, False))
    return found


def confirm(counts: Counts, over: Span) -> Plot:
    plot = Plot(
        "confirm", _("Time to confirm a cancel"), _("From request to confirmed stop where something was out")
    )
    plot.head = [_("When"), _("Cancels"), _("Median"), _("9 in 10")]
    plot.says = _(
        "Confirmed means that nothing further will be sent. It says nothing about steps already sent."
    )
    times = confirm_times(counts, over)
    if not any(times):
        plot.empty = _("No cancel had to wait for its confirmation in this time.")
        return plot
    scale = Log(1, 86400 * (30 if over.name == "30d" else 10))
    steps = ((1, _("1 s")), (60, _("1 min")), (3600, _("1 h")), (86400, _("1 d")))
    plot.lines = grid(*(scale(seconds) for seconds, _label in steps))
    plot.y = [Text("100%", pct(1 - scale(seconds)), label, "end") for seconds, label in steps]
    plot.keys = [
        Key("median", _("median"), True),
        Key("most", _("9 in 10"), True),
        Key("open", _("not reached yet"), True),
    ]
    for look, share in (("most", 0.9), ("median", 0.5)):
        last: tuple[float, float] | None = None
        for n, values in enumerate(times):
            if (found := nth(values, share)) is None:
                last = None
                continue
            x, y = (n + 0.5) / len(times), 1 - scale(found[0])
            edge = look if found[1] else f"{look} open"
            plot.dots.append(Dot(pct(x), pct(y), edge))
            if last:
                plot.lines.append(Line(pct(last[0]), pct(last[1]), pct(x), pct(y), edge))
            last = (x, y)
    plot.x = along(over.labels)
    for n, values in enumerate(times):
        total = sum(count for _s, count, _known in values)
        cells = [lasted(nth(values, 0.5)), lasted(nth(values, 0.9))]
        plot.rows.append(
            [over.labels[n], f"{total:,}" if counted(counts, over.edges[n], over.end(n)) else "–", *cells]
        )
    return plot


def by_edge(counts: Counts, over: Span, *names: str) -> list[list[int] | None]:
    """Sums of these names by hour or day; None where nothing was counted."""
    found: list[Counter[str]] = [Counter() for _edge in over.edges]
    for at, sums in counts.quarters:
        found[over.index(at)].update(sums)
    return [
        [found[n][name] for name in names] if counted(counts, over.edges[n], over.end(n)) else None
        for n in range(len(over.edges))
    ]


def flow(counts: Counts, over: Span) -> Plot:
    title = _("Opened and settled, per hour") if over.hourly else _("Opened and settled, per day")
    plot = Plot("flow", title, _("Above the line became unknown, below it settled"))
    keys = [
        Key("unknown open", _("became unknown")),
        Key("ok solid", _("settled: did not happen")),
        Key("info hatched", _("settled: happened")),
    ]
    plot.head = [_("When"), *(key.label for key in keys), _("Net")]
    rows = by_edge(counts, over, "opened", "rejected", "happened")
    most = max((max(row[0], row[1] + row[2]) for row in rows if row), default=0)
    if not most:
        plot.empty = _("No outcome became unknown, and none was settled, in this time.")
        return plot
    most = top(most)
    plot.keys, plot.lines = keys, grid(1, 0)
    plot.lines.append(Line("0%", "50%", "100%", "50%", "base"))
    plot.y = [
        Text("100%", place, text, "end")
        for place, text in (("0%", f"{most:,}"), ("50%", "0"), ("100%", f"{most:,}"))
    ]
    for n, row in enumerate(rows):
        if row is None:
            plot.rows.append([over.labels[n], "–", "–", "–", "–"])
            continue
        opened, rejected, happened = (count / most / 2 for count in row)
        for low, high, key in (
            (0.5, 0.5 + opened, keys[0]),
            (0.5 - rejected, 0.5, keys[1]),
            (0.5 - rejected - happened, 0.5 - rejected, keys[2]),
        ):
            if high > low:
                plot.bars.append(column(n, len(rows), low, high, key.look))
        plot.rows.append(
            [
                over.labels[n],
                *(f"{count:,}" for count in row),
                f"{row[0] - row[1] - row[2]:,}".replace("-", "−"),
            ]
        )
    plot.x = along(over.labels)
    opened, settled = (
        sum(sums) for sums in ([row[0] for row in rows if row], [row[1] + row[2] for row in rows if row])
    )
    plot.says = _("%(opened)s became unknown and %(settled)s were settled.") % {
        "opened": f"{opened:,}",
        "settled": f"{settled:,}",
    }
    return plot


#: Where a column leads: of what, from when, until when; "" where there is no list of it.
Leads = Callable[[str, datetime, datetime], str]


def refused(counts: Counts, over: Span, url: Leads) -> Plot:
    title = _("Refused late writes, per hour") if over.hourly else _("Refused late writes, per day")
    plot = Plot(
        "refused", title, _("From workers whose claim was no longer theirs, or that came after a cancel")
    )
    keys = [
        Key("info solid", _("fenced")),
        Key("pending hatched", _("claim lost")),
        Key("still plain", _("send forbidden by a cancel")),
    ]
    _stack(plot, counts, over, keys, ("fenced", "claim_lost", "cancelled"), url)
    if not plot.rows or plot.empty:
        plot.empty = _("No late write was refused in this time.")
    else:
        total = sum(sum(row) for row in by_edge(counts, over, "fenced", "claim_lost", "cancelled") if row)
        plot.says = ngettext(
            "%(n)s was refused; what it said is kept with its job.",
            "%(n)s were refused; what they said is kept with their jobs.",
            total,
        ) % {"n": f"{total:,}"}
    return plot


def entries(counts: Counts, over: Span) -> Plot:
    title = _("Entries in doubt, per hour") if over.hourly else _("Entries in doubt, per day")
    plot = Plot(
        "entries", title, _("What people recorded: sent back, expired, in conflict with another report")
    )
    keys = [
        Key("info solid", _("sent back")),
        Key("pending hatched", _("expired")),
        Key("unknown open", _("in conflict")),
    ]
    _stack(plot, counts, over, keys, ("declined", "expired", "disputed"), lambda *_place: "")
    if plot.empty:
        plot.empty = _("No entry was sent back, expired or in conflict in this time.")
    else:
        rows = [row for row in by_edge(counts, over, "declined", "expired", "disputed") if row]
        sums = [sum(row[n] for row in rows) for n in range(3)]
        plot.says = _("%(declined)s sent back, %(expired)s expired, %(differ)s in conflict.") % {
            name: f"{count:,}" for name, count in zip(("declined", "expired", "differ"), sums, strict=True)
        }
    return plot


def _stack(
    plot: Plot, counts: Counts, over: Span, keys: list[Key], names: tuple[str, ...], url: Leads
) -> None:
    """Columns of what came about each hour or day, one on the other."""
    plot.head = [_("When"), *(key.label for key in keys)]
    rows = by_edge(counts, over, *names)
    highest = max((sum(row) for row in rows if row), default=0)
    if not highest:
        plot.empty = "–"
        return
    most = top(highest)
    plot.keys, plot.lines, plot.y, plot.x = keys, grid(0, 0.5, 1), ticks(most), along(over.labels)
    for n, row in enumerate(rows):
        low = 0
        for key, name, count in zip(keys, names, row or (), strict=False):
            if count:
                leads = url(name, over.edges[n], over.end(n))
                said = _("%(when)s: %(n)s %(what)s") % {"when": over.labels[n], "n": count, "what": key.label}
                plot.bars.append(
                    column(n, len(rows), low / most, (low + count) / most, key.look, url=leads, name=said)
                )
            low += count
        plot.rows.append(
            [over.labels[n], *(f"{count:,}" for count in row)]
            if row
            else [over.labels[n], *["–"] * len(keys)]
        )
