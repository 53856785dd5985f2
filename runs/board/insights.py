"""Insights: plots of what was counted from receipts, each with the same numbers as a table and as a file.
What they show is `plots.py`'s, how it is drawn `drawing.py`'s, over which time `span.py`'s."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from runs import ledger
from runs.errors import NotVisible
from runs.permissions import Action
from runs.queries import insights as read
from runs.queries.choices import limits_of, systems_of

from . import plots
from .csv_file import as_csv, attached
from .door import Reader, address, page, reader_of, show
from .drawing import Plot, nth
from .shapes import Figure, Notice
from .shell import zone
from .span import DEFAULT, RANGES, moment, span
from .verify import select

NAMES = ("range", "queue")


@dataclass
class Look:
    """What a reader looks at: the queues chosen among those they may see whole, and the time. Reads once what
    its plots share, and nothing that no plot needs."""

    reader: Reader
    query: dict[str, str]

    def __post_init__(self) -> None:
        self.over = span(self.query.get("range", DEFAULT), self.reader.now)
        self.queue = self.query.get("queue", "")
        self.limits = limits_of(self.reader.actor)
        chosen = [name for name in self.limits if self.queue in ("", name)]
        self.seen = read.whole(self.reader.rights, chosen, self.reader.now)
        self.hidden = len(chosen) - len(self.seen)
        may_approve = read.whole(self.reader.rights, self.seen, self.reader.now, Action.APPROVE)
        self.leads = bool(self.seen) and may_approve == self.seen

    @cached_property
    def waiting(self) -> read.Waiting:
        return read.waiting(self.reader.actor, self.queue, self.reader.now)

    @cached_property
    def counts(self) -> read.Counts:
        return read.counts(self.reader.actor, self.seen, self.over.since, by_day=not self.over.hourly)

    @cached_property
    def systems(self) -> dict[str, str]:
        return dict(systems_of(self.reader.actor))

    def list_of(self, **more: str) -> str:
        """The Verify queue, narrowed to the same queue."""
        queue = {"queue": self.queue} if self.queue else {}
        return address(reverse("verify"), queue | {name: value for name, value in more.items() if value})

    def late(self, what: str, since: datetime, until: datetime) -> str:
        """The list of refused late writes; a send that was forbidden is none."""
        if what == "cancelled":
            return ""
        query = {"what": what, "since": ledger.as_text(since), "until": ledger.as_text(until)}
        return address(reverse("late"), query | ({"queue": self.queue} if self.queue else {}))

    def plots(self) -> list[Plot]:
        limits = {limit for name, limit in self.limits.items() if self.queue in ("", name)}
        found = [plots.age(self.waiting, limits, self.reader.now, lambda name: self.list_of(waits=name))]
        if not self.seen:
            return found
        found += [
            plots.backlog(self.counts, self.over),
            plots.confirm(self.counts, self.over),
            plots.flow(self.counts, self.over),
            plots.share(self.counts, self.systems, lambda tool: self.list_of(system=tool)),
            plots.refused(self.counts, self.over, self.late),
        ]
        if self.leads:
            found.append(plots.entries(self.counts, self.over))
        return [*found, plots.systems(self.counts, self.over, self.systems)]

    def notices(self) -> list[Notice]:
        if not self.hidden:
            return []
        some = _("Some jobs of %(n)d queues are not yours to see, so these queues are not counted here.")
        none = _("You may see single jobs, and no queue as a whole: what counts whole queues is not shown.")
        return [Notice(some % {"n": self.hidden} if self.seen else none, icon="lock")]

    def figures(self) -> list[Figure]:
        if not self.seen:
            return []
        counts, now = self.counts, self.reader.now
        still = sum(one.count for one in counts.open)
        oldest = plots.so_far(counts.open[0].at, now) if counts.open else "–"
        times = [each for values in plots.confirm_times(counts, self.over) for each in values]
        settled = sum(sums["happened"] + sums["rejected"] for sums in counts.tools.values())
        happened = sum(sums["happened"] for sums in counts.tools.values())
        most = _("9 in 10: %(time)s") % {"time": plots.lasted(nth(times, 0.9))}
        return [
            Figure("fig-unknown", _("Unknown now"), f"{still:,}", _("steps")),
            Figure("fig-oldest", _("Oldest unknown"), oldest),
            Figure(
                "fig-confirm",
                _("Time to confirm, median"),
                plots.lasted(nth(times, 0.5)),
                most if times else "",
            ),
            Figure("fig-settled", _("Settled"), f"{settled:,}", _("in this time")),
            Figure(
                "fig-happened",
                _("Had happened after all"),
                f"{happened / settled:.0%}" if settled else "–",
                _("of %(n)s settled") % {"n": f"{settled:,}"},
            ),
        ]

    @property
    def until(self) -> str:
        """Up to when receipts are counted, in words."""
        at = self.counts.until if self.seen else None
        return moment(at) if at else ""


def _query(request: HttpRequest) -> dict[str, str]:
    return {name: request.GET[name] for name in NAMES if request.GET.get(name)}


@page
def insights(request: HttpRequest) -> HttpResponse:
    query, table = _query(request), request.GET.get("table", "")
    look = Look(reader_of(request), query)
    found = look.plots()
    for plot in found:
        plot.as_table = plot.id in (table, "systems")
        plot.table_url = (
            address(request.path, query if plot.as_table else {**query, "table": plot.id}) + f"#{plot.id}"
        )
        plot.csv_url = address(reverse("insights_file", args=[plot.id]), query)
    context = {
        "ranges": [(name, label, name == look.over.name) for name, label in RANGES.items()],
        "queue": select("queue", _("Queue"), look.queue, [(name, name) for name in look.limits]),
        "table": table,
        "here": address(request.path, {**query, **({"table": table} if table else {})}),
        "zone": zone()["label"],
        "until": look.until,
        "notices": look.notices(),
        "figures": look.figures(),
        "plots": found,
        "hatches": ("info", "pending"),
    }
    return show(request, "runs/insights/page.html", "runs/insights/_results.html", {"insights": context})


@page
def insights_file(request: HttpRequest, plot: str) -> HttpResponse:
    """The table of one plot; its first line says what it counts."""
    look = Look(reader_of(request), _query(request))
    found = next((each for each in look.plots() if each.id == plot), None)
    if found is None:
        raise NotVisible
    return attached(_csv(look, found), f"insights-{plot}.csv")


def _csv(look: Look, plot: Plot) -> str:
    about: dict[str, Any] = {
        "tenant": look.reader.actor.tenant_name,
        "queues": look.queue or ", ".join(look.seen),
        "range": look.over.name,
        "zone": zone()["label"],
        "at": ledger.as_text(look.reader.now),
    }
    return as_csv(plot.title, about, plot.head, plot.rows)
