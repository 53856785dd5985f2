"""State and receipt together: what a decision writes, and the answer it gives."""

import json
import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from typing import Any

from django.db.models import F

from runs import causes, ledger, live
from runs.errors import NotVisible
from runs.models import Claim, Delivery, Job, Proposal, Step, plain
from runs.protocol.asks import Checkpoint
from runs.protocol.canonical import canonical, digest, idempotency_key
from runs.protocol.decide import Decision, decide
from runs.protocol.states import Control
from runs.protocol.tables import CODES, TABLES

from . import rows
from .delivery import offered
from .locked import At

SYSTEM = {"type": "system", "name": "system"}
PROPOSAL_LIFE = timedelta(hours=24)


@dataclass
class Answer:
    """What the caller is told: HTTP code, status, whether it repeats an earlier answer, the receipt as the
    API shows it (None: none was kept), and the fields of that command, JSON-ready."""

    code: int
    status: str
    replayed: bool = False
    receipt: dict[str, Any] | None = None
    fields: dict[str, Any] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        return {"status": self.status, "replayed": self.replayed, "receipt": self.receipt, **self.fields}


def replay(at: At) -> Answer | None:
    """The first answer again, if this event id was answered before; `event_conflict` if that was for other
    content."""
    earlier = at.earlier()
    if earlier is None:
        return None
    asked = canonical(ledger.ready(at.ask.content(at.world.token.fence)))
    kept = json.loads(earlier.body)
    kept.pop("spec", None)  # whole in a job's first receipt; its digest is there besides
    same = (earlier.kind, earlier.job_ref, canonical(kept)) == (at.ask.kind, at.job_id, asked)
    same = same and not (at.hidden and earlier.job_id)  # what it says of that job is not theirs to read
    _count_delivery(at, "replays" if same else "conflicts")
    if not same:
        return Answer(409, "event_conflict")
    shown = ledger.shown(earlier)
    code = CODES[(earlier.kind, earlier.status)]
    return Answer(code, earlier.status, True, shown, shown["detail"].get("answer", {}))


def _count_delivery(at: At, column: str) -> None:
    delivery, _ = Delivery.objects.get_or_create(
        tenant=at.tenant, event_id=at.ask.event_id, defaults={"last_at": at.now}
    )
    Delivery.objects.filter(id=delivery.id).update(**{column: F(column) + 1, "last_at": at.now})


def write(at: At, decision: Decision, ask: Any, *, by_system: bool = False) -> Answer:
    """Write what was decided, and a receipt where the row keeps one, in the transaction that holds the
    locks."""
    row = decision.row
    if row.status == "not_found":
        raise NotVisible
    actor = SYSTEM if by_system else {"type": str(at.actor.type), "name": at.actor.name}
    fields = _words(at, decision.tells)
    extra = _before_receipt(at, decision, ask, fields)
    fields = ledger.ready(fields)
    if decision.before.job is None and decision.after.job is not None:
        at.row = rows.create(
            at.tenant.id, at.job_id or "", decision.after.generation, at.spec, at.parent, at.now
        )
        at.row.admitted = decision.after.job.admitted
        _save_new(at, decision)
    receipt = None
    if row.kept:
        action = at.judged or at.action
        detail = {} if by_system else {"action": action, "grant": at.grant, "token": at.actor.token_id}
        detail |= decision.detail | extra
        if fields and getattr(ask, "event_id", None):
            detail["answer"] = fields
        receipt = ledger.append(
            at.tenant.id,
            at.row,
            at.job_id,
            seq=decision.after.at.seq if at.row else None,
            event_id=getattr(ask, "event_id", None),
            kind=ask.kind,
            status=row.status,
            actor=actor,
            ordinal=_ordinal(decision, ask),
            body=_body(at, decision, ask),
            detail=detail,
            at=at.now,
        )
    if at.row is not None and decision.after.job is not decision.before.job:
        if getattr(ask, "claim", None) and decision.after.at.lease_expires_at != at.row.lease_expires_at:
            at.row.heartbeat_at = at.now
        _new_fence(at, decision, ask, fields)
        rows.save(at.row, at.steps, decision.after.at, at.now, actor)
        _proposal_rows(at, decision, ask, fields)
    if ask.kind == "heartbeat" and at.row is not None:
        _delivered(at, decision)
    at.world = decision.after
    if at.row is not None and (row.kept or row.status == "blocked_cancelled"):
        live.announce(live.Nudge(at.tenant.id, at.row.id, at.row.job_id, at.row.seq))
    return Answer(row.code, row.status, row.replayed, receipt, fields)


def _delivered(at: At, decision: Decision) -> None:
    """The signal goes out with this answer; an earlier one was heard."""
    assert at.row is not None
    signal = decision.tells.get("signal")
    before, after = decision.before.at, decision.after.at
    if before.heard_seq != after.heard_seq:
        live.announce(live.Nudge(at.tenant.id, at.row.id, at.row.job_id, at.row.seq, beside=True))
    if signal:
        offered(at.tenant.id, at.row.job_id, signal["seq"], "heartbeat", at.now)


def _words(at: At, tells: dict[str, Any]) -> dict[str, Any]:
    """Causes with their words."""
    told = dict(tells)
    if told.get("cause"):
        told["cause"] = causes.describe(at.tenant.id, told["cause"])
    if told.get("signal"):
        told["signal"] = causes.in_words(at.tenant.id, told["signal"])
    return told


def _body(at: At, decision: Decision, ask: Any) -> dict[str, Any]:
    body: dict[str, Any] = ask.content(at.world.token.fence)
    if decision.before.job is None and decision.after.job is not None and at.spec is not None:
        body["spec"] = at.spec.whole
    return body


def _ordinal(decision: Decision, ask: Any) -> int | None:
    if ask.kind in ("reserve", "lapse"):
        return decision.before.at.position
    if ask.kind in ("approve", "decline", "expire") and decision.before.proposal:
        return decision.before.proposal.ordinal
    return getattr(ask, "ordinal", None)


def _before_receipt(at: At, decision: Decision, ask: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """What the answer and the receipt's detail hold besides, by the status that was decided."""
    status, job = decision.row.status, decision.after.job
    if status == "reserved" and job:
        fields["idempotency_key"] = idempotency_key(at.tenant.name, at.job_id or "", job.position)
    elif status == "claimed" and job:
        fields["claim"] = f"{job.fence}-{secrets.token_hex(16)}"
        if decision.before.at.holder:
            return {"cause": "work_claim_lost"}
    elif status == "proposed":
        seq = decision.after.at.seq
        fields["proposal"] = "p-" + digest([at.tenant.name, at.job_id, seq])[:20]
        return {"proposal": fields["proposal"]}
    elif status == "lapsed":
        return {"cause": "work_claim_lost"}
    proposal = decision.after.proposal
    if ask.kind in ("approve", "decline", "expire") and proposal:
        return {
            "proposal": proposal.id,
            "proposed_by": proposal.by,
            "outcome": proposal.outcome,
            "proposal_state": proposal.state,
        }
    return {}


def _save_new(at: At, decision: Decision) -> None:
    """The job's row and its steps; its parent learns that it has children."""
    assert at.row is not None
    job = decision.after.at
    at.row.control, at.row.admitted = str(job.control), job.admitted
    if job.cancel:  # a tombstone is born with its cancel: the CHECKs hold from the first statement on
        at.row.cancel_seq, at.row.cancel_at, at.row.grace_until = (
            job.cancel.seq,
            at.now,
            job.cancel.grace_until,
        )
    plain.insert(at.row)
    plain.insert(
        *(
            Step(
                tenant=at.tenant,
                job=at.row,
                ordinal=ordinal,
                label=step.content["label"],
                tool=step.content["tool"],
                target=step.content["target"],
                params=canonical(step.content["params"]),
            )
            for ordinal, step in job.steps.items()
        )
    )
    if at.row.parent_id:
        Job.objects.filter(id=at.row.parent_id, has_children=False).update(has_children=True)


def _new_fence(at: At, decision: Decision, ask: Any, fields: dict[str, Any]) -> None:
    """A claim or a revoke raised the fence: its token's hash is kept for ever, and why the one before it
    ended."""
    before, after = decision.before.job, decision.after.at
    if before is None or after.fence == before.fence:
        return
    assert at.row is not None
    token = fields.get("claim", "")
    at.row.claim_hash = sha256(token.encode()).hexdigest() if token else ""
    plain.insert(
        Claim(
            tenant=at.tenant,
            job=at.row,
            fence=after.fence,
            worker=after.holder,
            token_hash=at.row.claim_hash,
            user_id=at.actor.user_id if token else None,
            cause=getattr(ask, "cause", "") or ("work_claim_lost" if before.holder else ""),
            at=at.now,
        )
    )


def _proposal_rows(at: At, decision: Decision, ask: Any, fields: dict[str, Any]) -> None:
    """A new proposal, or what became of the one that was asked about."""
    after = decision.after.at
    if decision.row.status == "proposed":
        assert at.row is not None
        assert at.actor.user_id is not None  # a verifier's finding settles alone, the clock records none
        Proposal.objects.create(
            tenant=at.tenant,
            job=at.row,
            ordinal=ask.ordinal,
            proposal_id=fields["proposal"],
            seq=after.seq,
            outcome=ask.outcome,
            value=ask.value,
            evidence=canonical(ask.evidence.model_dump()),
            version=after.steps[ask.ordinal].version,
            by_id=at.actor.user_id,
            at=at.now,
            expires_at=at.now + PROPOSAL_LIFE,
        )
    elif decision.after.proposal and decision.before.proposal != decision.after.proposal and at.proposal:
        at.proposal.state, at.proposal.decided_at = decision.after.proposal.state, at.now
        at.proposal.decided_by_id = at.actor.user_id
        at.proposal.save()


def confirm_if_settled(at: At) -> None:
    """A command that left a requested job with nothing out confirms its stop in the same transaction."""
    job = at.world.job
    if job is None or job.control is not Control.REQUESTED:
        return
    decision = decide(TABLES["checkpoint"], at.world, Checkpoint())
    if decision.row.kept:
        write(at, decision, Checkpoint(), by_system=True)
