"""The plots of Insights: from counts to shapes, a table and a sentence each. Dashed is not established, solid
is; hatched tells the second of two solid ones apart, so that no plot needs its colours.

Times are gaps where nothing was counted yet, never zero. What goes on counts in a percentile as lasting at
least as long as it has.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import accumulate, pairwise

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from runs import tallies
from runs.queries.figures import CAP
from runs.queries.insights import Counts, Open, Waiting
from runs.queries.verify_queue import WAITS

from . import looks
from .drawing import Dot, Key, Line, Log, Plot, Text, along, area, column, grid, nth, pct, ticks, top
from .span import Span, moment
from .verify import waited, whole

FEW = 20  #: from so many on a share is more than chance
Percentile = tuple[float, bool] | None  #: seconds, and whether they are known or only a lower bound


def number(count: int) -> str:
    return f"{CAP:,}+" if count > CAP else f"{count:,}"


def lasted(found: Percentile) -> str:
    """6 s; > 3 h where it is not reached yet; – of nothing."""
    if found is None:
        return "–"
    if found == (0.0, False):
        return _("not reached yet")
    text = looks.span(found[0]) if found[0] >= 1 else _("under 1 s")
    return text if found[1] else f"> {text}"


def at_least(at: datetime, now: datetime) -> float:
    """For how many seconds what began in the quarter of an hour from `at` has surely gone on: it may have
    begun at its end."""
    return max(0.0, (now - at - tallies.QUARTER).total_seconds())


def so_far(at: datetime, now: datetime) -> str:
    """The same in words."""
    return lasted((waits, False)) if (waits := at_least(at, now)) else _("under 15 min")


def ages() -> list[Key]:
    labels = (_("under 15 min"), _("15 to 60 min"), _("1 to 4 h"), _("4 to 24 h"), _("over a day"))
    return [Key(f"a{n}", label) for n, label in enumerate(labels, 1)]


# -- what waits now ------------------------------------------------------------------------------------------
def age(waiting: Waiting, limits: set[int], now: datetime, url: Callable[[str], str]) -> Plot:
    plot = Plot(
        "age", _("Age of unverified jobs, now"), _("Cancel requested, a step is out and not verified")
    )
    names, bounds = list(WAITS), [least for least, _under in WAITS.values()]
    most = top(max(waiting.counts))
    plot.head = [_("Waiting for"), _("Jobs")]
    plot.y, plot.lines, plot.keys = ticks(most), grid(0, 0.5, 1), ages()
    for n, (name, count) in enumerate(zip(names, waiting.counts, strict=True)):
        look = f"a{tallies.age(bounds[n] + timedelta(seconds=1)) + 1} open"
        label = waited(name)
        said = ngettext("%(age)s: %(n)s job", "%(age)s: %(n)s jobs", count) % {
            "age": label,
            "n": number(count),
        }
        if count:
            plot.bars.append(column(n, len(names), 0, min(count, CAP) / most, look, url=url(name), name=said))
            plot.marks.append(
                Text(pct((n + 0.5) / len(names)), pct(1 - min(count, CAP) / most), number(count))
            )
        plot.rows.append([label, number(count)])
    plot.x = [Text(pct(n / len(names)), "100%", whole(bounds[n])) for n in range(1, len(names))]
    if len(limits) == 1 and timedelta(seconds=min(limits)) in bounds:
        at = pct(bounds.index(timedelta(seconds=min(limits))) / len(names))
        plot.lines.append(Line(at, "0%", at, "100%", "target"))
        plot.keys.append(
            Key("target", _("target of %(age)s") % {"age": whole(timedelta(seconds=min(limits)))}, line=True)
        )
    total = sum(waiting.counts)
    if waiting.longest:
        longest = looks.span((now - waiting.longest).total_seconds())
        plot.says = ngettext(
            "%(n)s job waits, for %(longest)s.", "%(n)s jobs wait, the longest for %(longest)s.", total
        ) % {"n": number(total), "longest": longest}
    else:
        plot.empty = _("Nothing that you may see is waiting.")
    return plot


# -- over time -----------------------------------------------------------------------------------------------
def backlog(counts: Counts, over: Span) -> Plot:
    plot = Plot("backlog", _("Backlog by age"), _("Unknown outcomes, every 6 hours"))
    plot.head = [_("When"), *(key.label for key in ages()), _("All")]
    marks = [at for at in tallies.marks(over.since, over.now) if counted(counts, at, at)]
    stood: dict[datetime, Counter[int]] = {}
    for at, size, count in counts.stood:
        stood.setdefault(at, Counter())[size] += count
    before = _standing(counts.open)
    by_mark = [(at, _classes(stood.get(at, Counter()), before, at)) for at in marks]
    totals = [sum(classes) for _at, classes in by_mark]
    if not any(totals):
        plot.empty = _("No outcome was unknown in this time.")
        return plot
    most = top(max(totals))
    plot.keys, plot.y = list(reversed(ages())), ticks(most)
    places = [(at - over.since) / (over.now - over.since) for at in marks]
    lows = [0] * len(marks)
    for which in range(4, -1, -1):
        highs = [low + classes[which] for low, (_at, classes) in zip(lows, by_mark, strict=True)]
        low, high = ([each / most for each in heights] for heights in (lows, highs))
        plot.areas.append(area(places, low, high, f"a{which + 1}"))
        lows = highs
    for (at, classes), total in zip(by_mark, totals, strict=True):
        plot.rows.append([moment(at), *(f"{count:,}" for count in classes), f"{total:,}"])
    plot.lines = grid(0, 0.5, 1)
    plot.x = along(over.labels, between=True)
    peak = max(range(len(totals)), key=totals.__getitem__)
    plot.says = _("At most %(n)s at once, on %(when)s.") % {
        "n": f"{totals[peak]:,}",
        "when": moment(marks[peak]),
    }
    return plot


def _standing(still: Sequence[Open]) -> Callable[[datetime], int]:
    """How many of those that still are unknown became so before a moment."""
    times, sums = [one.at for one in still], [0, *accumulate(one.count for one in still)]
    return lambda at: sums[bisect_left(times, at)]


def _classes(stood: Counter[int], before: Callable[[datetime], int], at: datetime) -> list[int]:
    """How many were unknown at this moment, by age: those settled since, and those that still are."""
    edges = [at, *(at - each for each in tallies.AGES)]
    still = [before(edge) - before(older) for edge, older in pairwise(edges)]
    return [stood[which] + count for which, count in enumerate([*still, before(edges[-1])])]


def counted(counts: Counts, begin: datetime, end: datetime) -> bool:
    """Whether this time was counted at all; else it is a gap."""
    return bool(counts.since and counts.until) and counts.since < end and begin <= counts.until  # type: ignore[operator]


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


# -- by system -----------------------------------------------------------------------------------------------
def share(counts: Counts, names: dict[str, str], url: Callable[[str], str]) -> Plot:
    plot = Plot(
        "share", _("Had happened after all"), _("Share of the unknown steps settled in this time, by system")
    )
    plot.head = [_("System"), _("Settled"), _("Had happened"), _("Share")]
    found = {
        tool: (sums["happened"], sums["happened"] + sums["rejected"]) for tool, sums in counts.tools.items()
    }
    found = {tool: pair for tool, pair in found.items() if pair[1]}
    if not found:
        plot.empty = _("No unknown outcome was settled in this time.")
        return plot
    largest = sorted(found, key=lambda tool: -found[tool][1])[:8]
    plot.keys = [
        Key("info hatched", _("had happened")),
        Key("few open", _("of fewer than %(n)d: chance") % {"n": FEW}),
    ]
    plot.lines, plot.y = (
        grid(0, 0.5, 1),
        [Text("100%", pct(1 - part), f"{part:.0%}", "end") for part in (0, 0.5, 1)],
    )
    for n, tool in enumerate(largest):
        happened, all_of_them = found[tool]
        part, label = happened / all_of_them, names.get(tool, tool) or _("none")
        look = "info hatched" if all_of_them >= FEW else "few open"
        said = _("%(system)s: %(share)s of %(n)s") % {
            "system": label,
            "share": f"{part:.0%}",
            "n": f"{all_of_them:,}",
        }
        plot.bars.append(column(n, len(largest), 0, max(part, 0.01), look, gap=0.6, url=url(tool), name=said))
        plot.marks.append(
            Text(pct((n + 0.5) / len(largest)), pct(1 - part), f"{part:.0%}, n {all_of_them:,}")
        )
        plot.x.append(
            Text(pct((n + 0.5) / len(largest)), "100%", label if len(label) < 14 else f"{label[:12]}…")
        )
    plot.rows = [
        [names.get(tool, tool) or _("none"), f"{pair[1]:,}", f"{pair[0]:,}", f"{pair[0] / pair[1]:.0%}"]
        for tool, pair in sorted(found.items(), key=lambda item: -item[1][1])
    ]
    happened, all_of_them = (sum(pair[n] for pair in found.values()) for n in (0, 1))
    plot.says = _("Of %(n)s settled, %(share)s had happened although nobody knew.") % {
        "n": f"{all_of_them:,}",
        "share": f"{happened / all_of_them:.0%}",
    }
    return plot


def settle_times(counts: Counts, over: Span) -> dict[str, list[tuple[float, int, bool]]]:
    """By tool: how long steps that became unknown in this time stayed so, or have so far."""
    found: dict[str, list[tuple[float, int, bool]]] = {}
    for tool, size, count in counts.settle:
        found.setdefault(tool, []).append((tallies.seconds(size), count, True))
    for one in counts.open:
        if one.at >= over.since:
            waited = at_least(one.at, over.now)
            found.setdefault(one.tool, []).append((waited, one.count, False))
    return found


def systems(counts: Counts, over: Span, names: dict[str, str]) -> Plot:
    """A table in any case; its bars are drawn beside each row."""
    plot = Plot(
        "systems",
        _("Slowest systems to answer"),
        _("From unknown to settled, 9 in 10, of what became unknown in this time"),
    )
    plot.head = [_("System"), _("Unknown now"), _("Oldest"), _("Median"), _("9 in 10")]
    times, oldest, still = settle_times(counts, over), {}, Counter()  # type: ignore[var-annotated]
    for one in counts.open:
        oldest.setdefault(one.tool, one.at)
        still[one.tool] += one.count
    tools = {*times, *oldest}
    if not tools:
        plot.empty = _("No outcome became unknown in this time.")
    slow = {tool: nth(times.get(tool, []), 0.9) for tool in tools}
    for tool in sorted(tools, key=lambda tool: (-(slow[tool] or (0,))[0], tool)):
        begun = oldest.get(tool)
        waited = so_far(begun, over.now) if begun else "–"
        median = nth(times.get(tool, []), 0.5)
        plot.rows.append(
            [
                names.get(tool, tool) or _("none"),
                f"{still[tool]:,}",
                waited,
                lasted(median),
                lasted(slow[tool]),
            ]
        )
        plot.meters.append(_meter(median, slow[tool]))
    return plot


def _meter(median: Percentile, most: Percentile) -> tuple[str, str, str]:
    """How far its bar and its tick reach, and whether the bar's end is known."""
    scale = Log(1, 86400 * 10)
    if median is None or most is None:
        return "0%", "0%", "solid"
    return pct(scale(most[0])), pct(scale(median[0])), "solid" if most[1] else "open"
