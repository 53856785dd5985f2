"""What this process did and waits for, in Prometheus' terms. Counts only: no job, person or tenant is named.

Counters are this process's own: every server and settle loop is a target of its own, and Prometheus adds
them up. What is read from the database at a scrape is the same whoever is asked.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from time import perf_counter

from prometheus_client import Counter, Histogram

from runs.models import Job

COMMANDS = Counter("cancelboard_commands", "Commands answered", ["kind", "status", "replayed"])
SECONDS = Histogram(
    "cancelboard_command_seconds",
    "From the lock to the commit, tries again included",
    ["kind"],
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 15),
)
REFUSALS = Counter("cancelboard_refusals", "Refused tries, by the deciding rule", ["action", "code"])

#: Upper ends of the ages that unsettled steps are counted in.
AGES = {"5m": timedelta(minutes=5), "1h": timedelta(hours=1), "1d": timedelta(days=1)}


@contextmanager
def timed(kind: str) -> Iterator[None]:
    began = perf_counter()
    try:
        yield
    finally:
        SECONDS.labels(kind).observe(perf_counter() - began)


def unsettled_by_age(now: datetime) -> dict[str, int]:
    """How many steps are unsettled: for less than five minutes, an hour, a day, or longer."""
    jobs = Job.objects.filter(unsettled_since__isnull=False)
    found, after = {}, now + timedelta(days=1)
    for name, age in AGES.items():
        found[name] = jobs.filter(unsettled_since__gt=now - age, unsettled_since__lte=after).count()
        after = now - age
    return {**found, "more": jobs.filter(unsettled_since__lte=after).count()}
