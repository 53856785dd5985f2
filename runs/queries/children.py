"""How many children of a job are unfinished (PROTOCOL section 9), for many jobs in one statement."""

from collections.abc import Iterable

from django.db import connection

from runs.models import Job

BELOW = """
WITH RECURSIVE below (root, child, id, unfinished) AS (
    SELECT parent_id, id, id, result = 'open' AND control <> 'acknowledged'
      FROM runs_job WHERE parent_id IN ({places})
    UNION ALL
    SELECT below.root, below.child, job.id, job.result = 'open' AND job.control <> 'acknowledged'
      FROM below JOIN runs_job job ON job.parent_id = below.id
)
SELECT root, COUNT(DISTINCT child) FROM below WHERE unfinished GROUP BY root
"""


def unfinished_children(jobs: Iterable[Job]) -> dict[int, int]:
    """How many direct children are unfinished, themselves or below, by the job's row id; without zeros."""
    parents = [job.pk for job in jobs if job.has_children]
    if not parents:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(BELOW.format(places=", ".join(["%s"] * len(parents))), parents)
        return dict(cursor.fetchall())
