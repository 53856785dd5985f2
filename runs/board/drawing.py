"""Plots as templates draw them: all places are per cent of the drawing's width and height, from the top left,
so that one SVG without a view box fits every screen and its text keeps its size. Knows nothing of jobs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from math import ceil, log, log10


@dataclass(frozen=True)
class Key:
    """A line of the legend. `look`: the class that a shape of it has; `line`: it is drawn as one."""

    look: str
    label: str
    line: bool = False


@dataclass(frozen=True)
class Bar:
    """`name`, for who hears it, where it leads to a list."""

    x: str
    y: str
    width: str
    height: str
    look: str
    url: str = ""
    name: str = ""


@dataclass(frozen=True)
class Line:
    x1: str
    y1: str
    x2: str
    y2: str
    look: str


@dataclass(frozen=True)
class Dot:
    x: str
    y: str
    look: str


@dataclass(frozen=True)
class Area:
    """`points` in a view box of 100 by 100, stretched."""

    points: str
    look: str


@dataclass(frozen=True)
class Text:
    """`anchor`: start, middle or end."""

    x: str
    y: str
    text: str
    anchor: str = "middle"


@dataclass
class Plot:
    """`unit`: what is counted, under the title; `says`: what it shows in one sentence; `empty`: why it
    shows nothing. `head` and `rows` are the same numbers as a table."""

    id: str
    title: str
    unit: str
    says: str = ""
    empty: str = ""
    keys: list[Key] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    areas: list[Area] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    dots: list[Dot] = field(default_factory=list)
    marks: list[Text] = field(default_factory=list)
    x: list[Text] = field(default_factory=list)
    y: list[Text] = field(default_factory=list)
    head: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    #: Beside each row: how far a bar and a tick reach, and the bar's edge.
    meters: list[tuple[str, str, str]] = field(default_factory=list)
    as_table: bool = False
    table_url: str = ""
    csv_url: str = ""

    @property
    def lines_of_table(self) -> Iterator[tuple[list[str], tuple[str, str, str] | None]]:
        return zip_longest(self.rows, self.meters)


def pct(part: float) -> str:
    """0.375 as "37.5%"."""
    return f"{100 * part:.2f}".rstrip("0").rstrip(".") + "%"


def top(most: float) -> int:
    """A round number at which a scale from 0 may end, even, so that its half is a number too."""
    unit = 10 ** int(log10(max(most, 1)))
    ends = (round(step * unit) for step in (1, 1.2, 1.6, 2, 2.4, 3, 4, 6, 8, 10, 12))
    return next((end for end in ends if end >= most and end % 2 == 0), 2)


def ticks(most: int) -> list[Text]:
    """0, the half and the whole, beside a scale."""
    return [Text("100%", pct(1 - part), f"{int(most * part):,}", "end") for part in (0, 0.5, 1)]


def grid(*heights: float) -> list[Line]:
    return [
        Line("0%", pct(1 - height), "100%", pct(1 - height), "grid" if height else "base")
        for height in heights
    ]


def column(
    n: int, of: int, low: float, high: float, look: str, *, gap: float = 0.3, url: str = "", name: str = ""
) -> Bar:
    """The n-th of equal columns, from `low` to `high` of the height (0 is the ground)."""
    width = (1 - gap) / of
    return Bar(pct((n + gap / 2) / of), pct(1 - high), pct(width), pct(high - low), look, url, name)


def area(places: Sequence[float], low: Sequence[float], high: Sequence[float], look: str) -> Area:
    """What lies between two lines."""
    there = [f"{100 * x:.2f},{100 - 100 * y:.2f}" for x, y in zip(places, high, strict=True)]
    back = [f"{100 * x:.2f},{100 - 100 * y:.2f}" for x, y in zip(places, low, strict=True)]
    return Area(" ".join((*there, *reversed(back))), look)


def along(labels: Sequence[str], *, between: bool = False, most: int = 5) -> list[Text]:
    """Labels under columns, in their middles; only so many of them, evenly. `between`: under their edges."""
    every = max(1, ceil(len(labels) / most))
    shown = [n for n in range(len(labels)) if n % every == 0]
    of = len(labels)
    return [Text(pct((n + (0 if between else 0.5)) / of), "100%", labels[n]) for n in shown]


class Log:
    """A scale by powers, between two positive ends."""

    def __init__(self, least: float, most: float) -> None:
        self.least, self.most = least, most

    def __call__(self, value: float) -> float:
        held = min(max(value, self.least), self.most)
        return log(held / self.least) / log(self.most / self.least)


def nth(values: Sequence[tuple[float, int, bool]], share: float) -> tuple[float, bool] | None:
    """The percentile of (value, how many, whether it is known): and whether it is known or only a lower
    bound. None of none."""
    total = sum(count for _, count, _ in values)
    rank = ceil(share * total)
    for value, count, known in sorted(values):
        rank -= count
        if rank <= 0 and total:
            return value, known
    return None
