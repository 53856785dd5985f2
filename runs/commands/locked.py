"""What happens before a decision: the locks in their order, the clock after them, the facts the decision
looks at, who may do it, whether the same event was answered before (PROTOCOL section 4, first paragraph).

Rights are read after the tenant's lock and judged on the locked row, so a revocation that has committed is
never overtaken. Nothing is written here.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from runs import causes
from runs.errors import FieldError, Invalid, NotAllowed, NotVisible
from runs.models import Job, Proposal, Queue, Receipt, Step, Tenant, plain
from runs.permissions import (
    WHOLE,
    Action,
    Actor,
    Rights,
    Target,
    Verdict,
    error_of,
    has_executed,
    lock_exclusive,
    lock_shared,
    standing,
)
from runs.protocol import states
from runs.protocol.fields import generation_of
from runs.protocol.spec import Spec

from . import rows
from .below import MOST, lock_below, may_stop, passed_on, unfinished

ACTIONS = {
    "submit": Action.SUBMIT,
    "cancel": Action.CANCEL,
    "seal": Action.SEAL,
    "revoke": Action.REVOKE,
    "pause": Action.PAUSE,
    "resume": Action.PAUSE,
    "observe": Action.RECONCILE,
    "reconcile": Action.RECONCILE,
    "close_dispute": Action.RECONCILE,
    "check": Action.RECONCILE,  # a look-up that somebody wants now
    "approve": Action.APPROVE,
    "decline": Action.APPROVE,
}  # every other command is a worker's, or the clock's

ONE = "tenant_id = %s AND job_id = %s"
UNAUTHENTICATED = ("principal_inactive", "token_dead")


@dataclass
class At:
    """Where a command stands once all is locked: the row (None: none that the actor may see), the world."""

    actor: Actor
    ask: Any
    job_id: str | None
    tenant: Tenant
    row: Job | None
    hidden: bool  #: there is a row, which the actor may not see
    parent: Job | None
    rights: Rights
    now: datetime
    queues: list[Queue]
    proposal: Proposal | None = None
    steps: dict[int, Step] = field(default_factory=dict)
    world: states.World = field(init=False)
    judged: Action | None = None  #: on what `grant` decided; once a job is made, `action` would say another
    grant: int | None = None
    below: list["At"] = field(default_factory=list)  #: whom the command is passed on to, the deepest first
    too_many: bool = False  #: are below

    @property
    def action(self) -> Action:
        if self.ask.kind == "cancel" and self.row is None and self.spec is not None:
            return Action.BLOCK
        if self.ask.kind == "decline" and self.own_proposal:
            return Action.RECONCILE  # taking back one's own entry
        return ACTIONS.get(self.ask.kind, Action.EXECUTE)

    @property
    def spec(self) -> Spec | None:
        spec: Spec | None = getattr(self.ask, "spec", None)
        return spec

    @property
    def own_proposal(self) -> bool:
        return self.proposal is not None and self.proposal.by_id == self.actor.user_id

    # -- who may ------------------------------------------------------------------------------------------
    def authorise(self) -> None:
        """Raises NotVisible, NotAllowed or Unauthenticated, with nothing used up; remembers the deciding
        grant."""
        try:
            self._authorise()
        except (NotVisible, NotAllowed) as refusal:
            refusal.action = self.action
            raise

    def _authorise(self) -> None:
        if (dead := self.rights.judge(Action.VIEW, WHOLE, now=self.now)).code in UNAUTHENTICATED:
            raise error_of(dead)
        if (target := self._target()) is None:
            if not self.rights.anywhere(self.action, self.now):
                raise NotVisible
            return
        if self.ask.kind != "seal" and not self.rights.judge(Action.VIEW, target, now=self.now).allowed:
            raise NotVisible
        self._require(
            self.rights.judge(
                self.action,
                target,
                executor=self.row is not None and has_executed(self.actor, self.row, self.action),
                own_proposal=self.own_proposal and self.ask.kind == "approve",
                now=self.now,
            )
        )
        for each in self.below:
            each.judged, each.grant = self.action, may_stop(each.row, self.rights, self.now)

    def _target(self) -> Target | None:
        """What the right is judged on: the job; for one that is to be made, its spec; None: nothing to
        see."""
        if self.ask.kind == "seal":
            return WHOLE
        if self.spec is not None and (self.row is None or self.ask.kind == "submit"):
            if self.hidden:
                raise NotVisible
            return Target(self.spec.queue, self.spec.owner, self.job_id or "")
        return Target.of(self.row) if self.row else None

    def _require(self, verdict: Verdict) -> None:
        if not verdict.allowed:
            raise error_of(verdict)
        self.judged, self.grant = self.action, verdict.grant

    # -- was it answered before ---------------------------------------------------------------------------
    def earlier(self) -> Receipt | None:
        """The receipt that already holds this event id in the tenant, whatever it was for."""
        event_id = getattr(self.ask, "event_id", None)
        if event_id is None:
            return None
        return plain.first(Receipt, "tenant_id = %s AND event_id = %s", self.tenant.pk, event_id)

    # -- names that must exist ----------------------------------------------------------------------------
    def check_names(self) -> None:
        """Raises Invalid for what only the database knows to be wrong: a queue, a cause, a proposal."""
        if self.spec is not None and self.spec.queue not in {queue.name for queue in self.queues}:
            raise Invalid(FieldError("spec.queue", f"there is no queue {self.spec.queue!r} in this tenant"))
        cause = getattr(self.ask, "cause", None)
        if cause is not None:
            if not causes.known_and_live(self.tenant.id, cause):
                raise Invalid(FieldError("cause", f"{cause!r} is no cause of this tenant, or a retired one"))
            if self.ask.kind in ("cancel", "operate") and cause in causes.NOT_FOR_CANCEL:
                raise Invalid(
                    FieldError("cause", f"{cause!r} releases resources; it cannot be why a job is cancelled")
                )
        if self.too_many:
            raise Invalid(FieldError("cascade", f"reaches more than {MOST} jobs: use a bulk operation"))
        if self.ask.kind in ("approve", "decline") and self.row is not None and self.proposal is None:
            raise NotVisible

    # -- what the decision looks at -----------------------------------------------------------------------
    def look(self) -> None:
        """Build the world from the locked row and what belongs to it."""
        job = None
        if self.row is not None:
            asked = getattr(self.ask, "ordinal", None)
            job, self.steps = rows.load(self.row, asked, self.proposal.ordinal if self.proposal else None)
        self.world = states.World(
            now=self.now,
            job=job,
            sealed_generation=self.tenant.sealed_generation,
            generation=generation_of(self.job_id or ""),
            wrong_queue=self._wrong_queue(),
            parent=self._parent(),
            token=self._token(),
            reconcile_needs=self._reconcile_needs(),
            proposal=self._proposal(),
            actor_type=self.actor.type,
            actor=self.actor.name,
            cascaded=len(self.below),
        )

    def _wrong_queue(self) -> bool:
        """The longest prefix that the id has names its queue; a queue with a prefix takes no other ids."""
        if self.spec is None or self.job_id is None:
            return False
        job_id = self.job_id
        owners = [queue for queue in self.queues if queue.id_prefix and job_id.startswith(queue.id_prefix)]
        if owners:
            return max(owners, key=lambda queue: len(queue.id_prefix)).name != self.spec.queue
        return any(queue.name == self.spec.queue and queue.id_prefix for queue in self.queues)

    def _parent(self) -> states.Parent | None:
        if self.spec is None or not self.spec.parent or self.ask.kind != "submit":
            return None
        parent = self.parent
        if parent is None or not all(
            self.rights.judge(action, Target.of(parent), now=self.now).allowed
            for action in (Action.VIEW, Action.SUBMIT)
        ):
            return states.Parent(visible=False)
        is_open = parent.admitted and parent.control == "run" and parent.result == "open"
        return states.Parent(open=is_open, depth=parent.depth)

    def _token(self) -> states.Token:
        given = getattr(self.ask, "claim", None)
        return rows.token(self.row, given) if given is not None and self.row else states.Token()

    def _reconcile_needs(self) -> str:
        if self.ask.kind != "reconcile" or self.row is None:
            return "1"
        return Queue.objects.values_list("reconcile_needs", flat=True).get(
            tenant=self.tenant, name=self.row.queue
        )

    def _proposal(self) -> states.Proposal | None:
        found = self.proposal
        if found is None:
            return None
        return states.Proposal(
            found.proposal_id,
            found.ordinal,
            found.outcome,
            found.value,
            found.version,
            found.state,
            found.expires_at,
            own=self.own_proposal,
            by=found.by.name,
        )


def lock(actor: Actor, job_id: str | None, ask: Any) -> At:
    """Take the locks, to be kept to the commit: the tenant (shared; exclusive to seal), the parent's row, the
    job's row, those below it for a cascade. What is read beside a locked row is read by a later statement,
    so it is as fresh as the row."""
    (lock_exclusive if ask.kind == "seal" else lock_shared)(actor.tenant_id)
    spec = getattr(ask, "spec", None)
    parent = None
    if ask.kind == "submit" and ask.spec.parent:
        parent = plain.first(Job, ONE, actor.tenant_id, ask.spec.parent, lock=True)
    row = None
    if job_id is not None:
        row = plain.first(Job, ONE, actor.tenant_id, job_id, lock=True)
    below = lock_below(row) if row is not None and getattr(ask, "cascade", False) else []
    tenant, now, rights = standing(actor)
    if row is not None:
        now = max(now, *(each.updated_at for each in (row, *below)))
    hidden = row is not None and not rights.judge(Action.VIEW, Target.of(row), now=now).allowed
    seen = None if hidden else row
    queues = plain.rows(Queue, "tenant_id = %s", tenant.pk) if spec is not None else []
    proposal = _asked_proposal(tenant, seen, ask)
    at = At(actor, ask, job_id, tenant, seen, hidden, parent, rights, now, queues, proposal)
    at.too_many = len(below) > MOST
    at.below = [
        At(actor, passed_on(ask, each), each.job_id, tenant, each, False, None, rights, now, [])
        for each in unfinished(below)
    ]
    return at


def _asked_proposal(tenant: Tenant, row: Job | None, ask: Any) -> Proposal | None:
    """The proposal that is named, or for a reconcile the newest undecided one of the same step."""
    if row is None or ask.kind not in ("approve", "decline", "expire", "reconcile"):
        return None
    of_job = Proposal.objects.select_related("by").filter(tenant=tenant, job=row)
    if named := getattr(ask, "proposal", None):
        return of_job.filter(proposal_id=named).first()
    if ask.kind == "reconcile":
        return of_job.filter(ordinal=ask.ordinal, state="open").order_by("-id").first()
    return None
