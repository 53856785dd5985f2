"""What the holders of claims are to be told now (PROTOCOL section 7): what their next heartbeat would be
answered, decided by the same table, and without being one. Writes nothing."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from runs import causes
from runs.commands.rows import load_alone, token
from runs.ledger import ready
from runs.models import Job
from runs.permissions import Action, Actor, visible
from runs.protocol.asks import Heartbeat
from runs.protocol.decide import decide
from runs.protocol.states import World
from runs.protocol.tables import TABLES

Told = dict[str, Any]


def of_claims(actor: Actor, claims: Mapping[str, str], now: datetime) -> dict[str, Told]:
    """By job id, for the jobs that the actor may see and execute: `{"signal": … or None}`, or `{"lost":
    cause}` where the claim is no longer the newest. A token never issued for its job is told nothing."""
    named = Job.objects.filter(tenant_id=actor.tenant_id, job_id__in=claims)
    jobs = visible(visible(named, actor, now), actor, now, Action.EXECUTE)
    return {job.job_id: told for job in jobs if (told := _told(job, claims[job.job_id], now)) is not None}


def _told(job: Job, given: str, now: datetime) -> Told | None:
    claim = token(job, given)
    if not claim.fence:
        return None
    world = World(now=now, job=load_alone(job), token=claim)
    tells = decide(TABLES["heartbeat"], world, Heartbeat(claim=given)).tells
    if not claim.newest:
        return {"lost": causes.describe(job.tenant_id, tells["cause"])}
    signal = tells["signal"]
    return {"signal": signal and ready(causes.in_words(job.tenant_id, signal))}
