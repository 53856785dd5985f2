"""The time that Insights looks back over, cut in the reader's zone."""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import pgettext

RANGES: dict[str, str | Promise] = {
    "24h": lazy("24 h"),
    "7d": lazy("7 d"),
    "14d": lazy("14 d"),
    "30d": lazy("30 d"),
}
DEFAULT = "14d"


@dataclass(frozen=True)
class Span:
    """`edges`: when each hour or day begins, oldest first; the last one is the one that goes on."""

    name: str
    edges: list[datetime]
    now: datetime

    @property
    def since(self) -> datetime:
        return self.edges[0]

    @property
    def hourly(self) -> bool:
        return self.name == "24h"

    def index(self, at: datetime) -> int:
        return bisect_right(self.edges, at) - 1

    def end(self, n: int) -> datetime:
        return self.edges[n + 1] if n + 1 < len(self.edges) else self.now

    @cached_property
    def labels(self) -> list[str]:
        return [_label(edge, self.hourly) for edge in self.edges]


def span(name: str, now: datetime) -> Span:
    name = name if name in RANGES else DEFAULT
    local = timezone.localtime(now)
    if name == "24h":
        hour = local.replace(minute=0, second=0, microsecond=0)
        edges = [hour.astimezone(now.tzinfo) - timedelta(hours=n) for n in range(23, -1, -1)]
        return Span(name, edges, now)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    days = [midnight - timedelta(days=n) for n in range(int(name[:-1]) - 1, -1, -1)]
    return Span(name, [timezone.make_aware(day).astimezone(now.tzinfo) for day in days], now)


def _label(at: datetime, hourly: bool) -> str:
    local = timezone.localtime(at)
    return f"{local:%H:%M}" if hourly else day(at)


def day(at: datetime) -> str:
    """16 Nov."""
    return date_format(timezone.localtime(at), pgettext("date", "j M"))


def moment(at: datetime) -> str:
    """16 Nov, 14:30."""
    return _("%(day)s, %(time)s") % {"day": day(at), "time": f"{timezone.localtime(at):%H:%M}"}
