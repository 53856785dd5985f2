"""How lengths of time are said, and which time was counted at all."""

from datetime import datetime

from django.utils.translation import gettext as _

from runs import tallies
from runs.board import looks
from runs.queries.insights import Counts

Percentile = tuple[float, bool] | None  #: seconds, and whether they are known or only a lower bound


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


def counted(counts: Counts, begin: datetime, end: datetime) -> bool:
    """Whether this time was counted at all; else it is a gap."""
    return bool(counts.since and counts.until) and counts.since < end and begin <= counts.until  # type: ignore[operator]
