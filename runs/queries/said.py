"""What was said about a step by a report or an entry that settled nothing: read out of its receipt, with the
worker whose claim it came under. Judges no rights: whoever calls has filtered.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_

from django.db.models import Q

from runs.models import Claim, Receipt


@dataclass(frozen=True)
class Word:
    """`worker`: "" where it was no worker's; `late`: its claim had been lost."""

    job: int | None  #: its row
    ordinal: int | None
    seq: int | None
    at: datetime
    by: str
    worker: str
    outcome: str
    value: str
    late: bool


def words_of(receipts: Iterable[Receipt]) -> list[Word]:
    """In the order given; at most one statement."""
    bodies = [(receipt, json.loads(receipt.body)) for receipt in receipts]
    under = {(receipt.job_id, body["claim"]) for receipt, body in bodies if body.get("claim")}
    workers: dict[tuple[int | None, int], str] = {}
    if under:
        claims = Claim.objects.filter(reduce(or_, (Q(job=job, fence=fence) for job, fence in under)))
        workers = {(claim.job_id, claim.fence): claim.worker for claim in claims}
    return [
        Word(
            receipt.job_id,
            receipt.ordinal,
            receipt.seq,
            receipt.at,
            receipt.actor_name,
            workers.get((receipt.job_id, body.get("claim", 0)), ""),
            body.get("outcome", ""),
            body.get("value") or "",
            receipt.status in ("fenced", "claim_lost"),
        )
        for receipt, body in bodies
    ]
