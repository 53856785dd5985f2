"""A job as the contract shows it (docs/http.md, The job): many at once, in a fixed number of statements.

Judges no rights: whoever calls has filtered.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from runs import causes
from runs.ledger import as_text
from runs.models import Claim, Job, Receipt, Step
from runs.protocol.headline import headline
from runs.protocol.states import Control, Result, State

from .children import unfinished_children

Shape = dict[str, Any]
Place = tuple[int | None, int | None]  #: a job's row, and an ordinal or a fence in it


def shapes(jobs: Sequence[Job], now: datetime) -> list[Shape]:
    """Jobs of one tenant, in the order given; `now` says whether a lease is live. At most five statements."""
    if not jobs:
        return []
    rows = Step.objects.filter(job__in=jobs).order_by("job_id", "ordinal")
    steps = {pk: list(of_job) for pk, of_job in groupby(rows, key=lambda step: step.job_id)}
    said = _testimony(step for of_job in steps.values() for step in of_job)
    words = causes.describe_all(jobs[0].tenant_id, {job.cancel_cause for job in jobs if job.cancel_cause})
    children = unfinished_children(jobs)
    tenant = jobs[0].tenant.name
    return [
        {
            **_facts(job),
            "tenant": tenant,
            "steps": [_step(step, said.get((job.pk, step.ordinal), [])) for step in steps.get(job.pk, [])],
            "cancel": _cancel(job, words),
            "claim": _claim(job, now),
            "children_unfinished": children.get(job.pk, 0),
        }
        for job in jobs
    ]


def headline_of(job: Job) -> str:
    control, result, state = Control(job.control), Result(job.result), State(job.cur)
    return headline(job.admitted, control, result, state, job.paused_at is not None, job.too_late)


def _facts(job: Job) -> Shape:
    return {
        "job_id": job.job_id,
        "queue": job.queue,
        "owner": job.owner,
        "generation": job.generation,
        "dispatch": job.dispatch,
        "parent": job.parent_ref or None,
        "spec_digest": job.spec_digest,
        "admitted": job.admitted,
        "control": job.control,
        "result": job.result,
        "paused_at": _time(job.paused_at),
        "headline": headline_of(job),
        "disputed": job.disputed > 0,
        "unsettled": job.position if job.unsettled_since else None,
        "blocked_submits": job.blocked_submits,
        "seq": job.seq,
        "head_digest": job.head_digest,
        "created_at": _time(job.created_at),
        "updated_at": _time(job.updated_at),
    }


def _step(step: Step, testimony: list[Shape]) -> Shape:
    by = {"type": step.settled_type, "name": step.settled_by}
    return {
        "ordinal": step.ordinal,
        "label": step.label,
        "tool": step.tool,
        "target": step.target,
        "params": json.loads(step.params),
        "state": step.state,
        "value": step.value,
        "dispatched_at": _time(step.dispatched_at),
        "settled_by": {"actor": by, "seq": step.settled_seq} if step.settled_seq else None,
        "disputed": step.disputed,
        "testimony": testimony,
    }


def _cancel(job: Job, words: dict[str, dict[str, str]]) -> Shape | None:
    if job.cancel_seq is None:
        return None
    heard = job.heard_seq in (job.cancel_seq, job.escalated_seq)  # a pause may be what was heard
    return {
        "cause": words[job.cancel_cause],
        "note": job.cancel_note,
        "asked_by": job.cancel_asked_by,
        "by": job.cancel_by,
        "at": _time(job.cancel_at),
        "grace_until": _time(job.grace_until),
        "heard_at": _time(job.heard_at) if heard else None,
        "too_late": job.too_late,
    }


def _claim(job: Job, now: datetime) -> Shape | None:
    if not job.holder or job.lease_expires_at is None:
        return None
    return {
        "worker": job.holder,
        "fence": job.fence,
        "lease_expires_at": _time(job.lease_expires_at),
        "live": now < job.lease_expires_at,
    }


def _testimony(steps: Iterable[Step]) -> dict[Place, list[Shape]]:
    """Every fenced report by (job's row, ordinal), also those that count no longer."""
    jobs = {step.job_id for step in steps if step.testimony or step.closed_seq}
    if not jobs:
        return {}
    claims = Claim.objects.filter(job__in=jobs)
    workers: dict[Place, str] = {(claim.job_id, claim.fence): claim.worker for claim in claims}
    found: dict[Place, list[Shape]] = {}
    fenced = Receipt.objects.filter(job__in=jobs, kind="report", status="fenced").order_by("seq")
    for receipt in fenced:
        said = json.loads(receipt.body)
        shown = {
            "seq": receipt.seq,
            "worker": workers.get((receipt.job_id, said["claim"]), ""),
            "fence": said["claim"],
            "outcome": said["outcome"],
            "value": said["value"],
            "at": as_text(receipt.at),
        }
        found.setdefault((receipt.job_id, receipt.ordinal), []).append(shown)
    return found


def _time(at: datetime | None) -> str | None:
    return as_text(at) if at else None
