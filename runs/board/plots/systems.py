"""What came about by system."""

from collections import Counter
from collections.abc import Callable

from django.utils.translation import gettext as _

from runs import tallies
from runs.board.drawing import (
    Key,
    Log,
    Plot,
    Text,
    column,
    grid,
    nth,
    pct,
)
from runs.board.span import Span
from runs.queries.insights import Counts

from .shared import Percentile, at_least, lasted, so_far

FEW = 20  #: from so many on a share is more than chance


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
