"""Synthetic jobs in every state (`manage.py seed`): few jobs through the real commands, many in bulk.

    stories.py    what happens to a job, told once for both ways
    teller.py     the words that stories are told in: it draws what is not said, and asks a hand
    people.py     the tenant, its queues, and who does what
    real.py       the hand that asks the real commands
    bulk.py       the hand that decides in memory (runs.protocol): told.py, receipts.py, rows.py

In bulk is the one exception to "only runs.commands writes": same tables, same decisions, same receipts; the
audit is the judge of that. Nothing here is for a database with real jobs in it.
"""

from .bulk import in_bulk
from .people import Cast
from .real import by_command

__all__ = ["FEW", "Cast", "by_command", "in_bulk"]

FEW = 2000  #: up to so many jobs are made through the real commands
