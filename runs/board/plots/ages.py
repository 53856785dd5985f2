"""Unknown outcomes by their age: those that wait now, and every six hours."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import accumulate, pairwise

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from runs import tallies
from runs.board import looks
from runs.board.drawing import (
    Key,
    Line,
    Plot,
    Text,
    along,
    area,
    column,
    grid,
    pct,
    ticks,
    top,
)
from runs.board.span import Span, moment
from runs.board.verify import waited, whole
from runs.queries.figures import CAP
from runs.queries.insights import Counts, Open, Waiting
from runs.queries.verify_queue import WAITS

from .shared import counted


def number(count: int) -> str:
    return f"{CAP:,}+" if count > CAP else f"{count:,}"


def ages() -> list[Key]:
    labels = (_("under 15 min"), _("15 to 60 min"), _("1 to 4 h"), _("4 to 24 h"), _("over a day"))
    return [Key(f"a{n}", label) for n, label in enumerate(labels, 1)]


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
