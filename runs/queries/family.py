"""The jobs above and below a job (PROTOCOL section 9), as far as its reader may see them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

from django.db import connection

from runs.models import Job
from runs.permissions import Actor, visible

MOST = 200  #: descendants on one page

BELOW = """
WITH RECURSIVE below (id, parent_id, depth, unfinished) AS (
    SELECT id, parent_id, depth, result = 'open' AND control <> 'acknowledged'
      FROM runs_job WHERE parent_id = %s
    UNION ALL
    SELECT job.id, job.parent_id, job.depth, job.result = 'open' AND job.control <> 'acknowledged'
      FROM below JOIN runs_job job ON job.parent_id = below.id
)
SELECT id, parent_id, unfinished FROM below ORDER BY depth, id LIMIT %s
"""


@dataclass(frozen=True)
class Relative:
    """One job below: how far below, and whether it is unfinished itself."""

    row: Job
    depth: int
    unfinished: bool


@dataclass(frozen=True)
class Family:
    """`below` in the order of a tree; `more`: there are more than are shown."""

    parent: Job | None = None
    below: tuple[Relative, ...] = ()
    more: bool = False

    @property
    def blocker(self) -> Relative | None:
        """The first that holds the job's stop up: an unfinished one with none below it, as far as is seen."""
        for at, each in enumerate(self.below):
            under = takewhile(lambda other, top=each: other.depth > top.depth, self.below[at + 1 :])  # type: ignore[misc]
            if each.unfinished and not any(other.unfinished for other in under):
                return each
        return None


def family(row: Job, actor: Actor, now: datetime) -> Family:
    """Two statements where it has children, one where it has a parent."""
    parent = None
    if row.parent_id is not None:
        parent = visible(Job.objects.filter(pk=row.parent_id), actor, now).first()
    if not row.has_children:
        return Family(parent)
    with connection.cursor() as cursor:
        cursor.execute(BELOW, [row.pk, MOST + 1])
        found = cursor.fetchall()
    more, found = len(found) > MOST, found[:MOST]
    waits = {pk for pk, _parent, unfinished in found if unfinished}
    seen = visible(Job.objects.filter(pk__in=[pk for pk, *_rest in found]), actor, now).in_bulk()
    below = tuple(
        Relative(seen[pk], depth, pk in waits) for pk, depth in _tree(found, row.pk, 1) if pk in seen
    )
    return Family(parent, below, more)


def _tree(found: list[tuple[int, int, bool]], parent: int, depth: int) -> Iterator[tuple[int, int]]:
    for pk, above, _unfinished in found:
        if above == parent:
            yield pk, depth
            yield from _tree(found, pk, depth + 1)
