"""The audit (`manage.py audit`): every invariant and every digest of PROTOCOL sections 1 to 3, checked with
code that shares nothing with the transitions. It reads, and changes nothing.

    canonical.py, receipts.py, chain.py   digests and numbering
    state.py, effects/, replay.py         receipts to state: what a job must be by now
    invariants.py, compare.py, keyed.py   the rows, by themselves and beside the replay
    job.py                                one job, from its first receipt to its last row
    rows.py, ledger.py                    the database: streams and a snapshot; what spans jobs
    cells.py                              what no stream could read
    certificate.py                        a certificate, by itself

Imports runs.models for the names of columns, and nothing else of `runs`: a test sees to that.
"""

from collections.abc import Iterator

from runs.models import Tenant

from . import ledger
from .cells import unreadable
from .findings import Breach, breach
from .job import check
from .ledger import lost
from .rows import jobs, snapshot

__all__ = ["Breach", "breaches", "lost", "snapshot"]


def breaches(only: str | None = None) -> Iterator[Breach]:
    """Every breach there is, or of the jobs called `only` (in any tenant); none, if all is well.

    Streams: memory does not grow with the database. Inside `snapshot()` it judges one moment; outside of it,
    writers at work make it see what never was. With `only`, what spans the ledger is left out: I11, seals,
    orphans.
    """
    yield from unreadable(only)
    for rows in jobs(only):
        for finding in check(rows):
            yield breach(rows.tenant, rows.job.job_id, finding)
    yield from ledger.children(only)
    if only is None:
        yield from ledger.whole(dict(Tenant.objects.values_list("id", "name")))
