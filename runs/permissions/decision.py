"""May this principal do this? The six steps of docs/permissions.md, "The decision", in its order; the first
that applies decides. Default deny; a live deny beats every allow.

Pure: no Django, no database, no clock. Not here: what is in the database (`rights.py`), the same rules as SQL
(`visible.py`), and whether the job's state allows it (`runs.protocol`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from runs.protocol.states import ActorType


class Action(StrEnum):
    VIEW = "view"  #: see a job, wherever it shows
    SUBMIT = "submit"
    EXECUTE = "execute"  #: what a worker does, from claim to checkpoint
    CANCEL = "cancel"  #: of an admitted job
    BLOCK = "block"  #: cancel before submit
    PAUSE = "pause"  #: and resume
    REVOKE = "revoke"  #: a claim
    RECONCILE = "reconcile"  #: observe, record an outcome, close a dispute
    APPROVE = "approve"  #: or decline, another person's proposal
    SEAL = "seal"  #: and archive
    EXPORT = "export"
    MANAGE_GRANTS = "manage_grants"


class Scope(StrEnum):
    TENANT = "tenant"
    QUEUE = "queue"
    OWNER = "owner"
    SELF = "self"
    JOB = "job"


RANK = {Scope.TENANT: 1, Scope.QUEUE: 2, Scope.OWNER: 3, Scope.SELF: 4, Scope.JOB: 5}

#: These are about no job: only a tenant-wide grant, and a token without queues, will do.
TENANT_WIDE = frozenset({Action.SEAL, Action.MANAGE_GRANTS})

#: The kind of principal that may never do it.
BARRED = {
    Action.APPROVE: ActorType.SERVICE,
    Action.MANAGE_GRANTS: ActorType.SERVICE,
    Action.EXECUTE: ActorType.PERSON,
}


class Placed(Protocol):
    """A job's row, or anything else with its three immutable attributes."""

    queue: str
    owner: str
    job_id: str


@dataclass(frozen=True)
class Target:
    """What a grant can reach a job by."""

    queue: str
    owner: str
    job_id: str

    @classmethod
    def of(cls, job: Placed) -> "Target":
        return cls(job.queue, job.owner, job.job_id)


#: The tenant itself. No scope but `tenant` reaches it.
WHOLE = Target("", "", "")


@dataclass(frozen=True)
class Held:
    """A grant that was not revoked; live from `not_before` until just before `expires_at`."""

    id: int
    action: str
    allows: bool
    scope: str
    queue: str
    owner: str
    job: str
    not_before: datetime
    expires_at: datetime | None

    def live(self, now: datetime) -> bool:
        return self.not_before <= now and not self.expired(now)

    def expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def reaches(self, target: Target, owner_key: str) -> bool:
        match self.scope:
            case Scope.TENANT:
                return True
            case Scope.QUEUE:
                return self.queue == target.queue
            case Scope.OWNER:
                return self.owner == target.owner
            case Scope.SELF:
                return target.owner == owner_key != ""
            case Scope.JOB:
                return self.job == target.job_id
        return False


@dataclass(frozen=True)
class Ceiling:
    """A token: nothing outside it, whatever the account may do. No queues named: all of them."""

    actions: frozenset[str]
    queues: frozenset[str]
    expires_at: datetime
    revoked: bool

    def live(self, now: datetime) -> bool:
        return not self.revoked and now < self.expires_at

    def holds(self, action: Action, target: Target) -> bool:
        return action in self.actions and (not self.queues or target.queue in self.queues)


@dataclass(frozen=True)
class Verdict:
    """`code`: `allowed`, or why not; `grant`: the id of the one that decided; `steps`: (n, check, result)."""

    allowed: bool
    code: str
    grant: int | None
    steps: tuple[tuple[int, str, str], ...]


@dataclass(frozen=True)
class Ask:
    """One question to the decision, with the facts that only the caller knows."""

    action: Action
    target: Target
    now: datetime
    executor: bool  #: has held a claim on the job, or sponsors a service account that has
    own_proposal: bool
    to_self: bool  #: the grant or group membership would be the asker's own


@dataclass(frozen=True)
class Refusal:
    code: str
    grant: int | None = None


@dataclass(frozen=True)
class Rights:
    """What one principal holds in its tenant, as just read. System and verifiers hold every right."""

    kind: ActorType
    active: bool = True
    owner_key: str = ""
    token: Ceiling | None = None
    grants: tuple[Held, ...] = ()

    def judge(
        self,
        action: Action,
        target: Target,
        *,
        now: datetime,
        executor: bool = False,
        own_proposal: bool = False,
        to_self: bool = False,
    ) -> Verdict:
        """The decision, on this action alone: acting on a job also needs `view` of it, asked separately."""
        aim = WHOLE if action in TENANT_WIDE else target
        ask = Ask(action, aim, now, executor, own_proposal, to_self)
        passed: list[tuple[int, str, str]] = []
        for n, (check, question) in enumerate(CHECKS, 1):
            if refusal := question(self, ask):
                return Verdict(False, refusal.code, refusal.grant, (*passed, (n, check, refusal.code)))
            passed.append((n, check, "pass"))
        grant = deciding(self.reaching(ask, allows=True))
        return Verdict(True, "allowed", grant.id if grant else None, (*passed, (6, "decision", "allowed")))

    def anywhere(self, action: Action, now: datetime) -> bool:
        """Is there a place in the tenant where a live allow of the action counts?

        It decides between a table's row for an unknown job and the 404.
        """
        return self.has_every_right or any(
            self.judge(action, place, now=now).allowed
            for grant in self.grants
            if grant.allows and grant.action == action and grant.live(now)
            for place in self.places(grant)
        )

    @property
    def has_every_right(self) -> bool:
        return self.kind in (ActorType.SYSTEM, ActorType.VERIFIER)

    def reaching(self, ask: Ask, *, allows: bool) -> Iterator[Held]:
        """Grants of the action that reach the target and are live."""
        return (grant for grant in self.matching(ask, allows=allows) if grant.live(ask.now))

    def matching(self, ask: Ask, *, allows: bool) -> Iterator[Held]:
        """The same, live or not."""
        return (
            grant
            for grant in self.grants
            if grant.action == ask.action
            and grant.allows is allows
            and grant.reaches(ask.target, self.owner_key)
        )

    def places(self, grant: Held) -> Iterator[Target]:
        """What the grant itself names; where it names no queue, once in each queue of the token."""
        owner = self.owner_key if grant.scope == Scope.SELF else grant.owner
        queues = [grant.queue] if grant.queue or self.token is None else self.token.queues or [""]
        return (Target(queue, owner, grant.job) for queue in queues)


def deciding(grants: Iterator[Held]) -> Held | None:
    """Highest rank, then lowest id."""
    return min(grants, key=lambda grant: (-RANK[Scope(grant.scope)], grant.id), default=None)


def credentials(rights: Rights, ask: Ask) -> Refusal | None:
    if not rights.active:
        return Refusal("principal_inactive")
    if rights.token and not rights.token.live(ask.now):
        return Refusal("token_dead")
    if rights.token and not rights.token.holds(ask.action, ask.target):
        return Refusal("token_ceiling")
    return None


def principal_kind(rights: Rights, ask: Ask) -> Refusal | None:
    return Refusal("principal_kind") if BARRED.get(ask.action) == rights.kind else None


def denied(rights: Rights, ask: Ask) -> Refusal | None:
    deny = deciding(rights.reaching(ask, allows=False))
    return Refusal("explicit_deny", deny.id) if deny else None


def without_allow(rights: Rights, ask: Ask) -> Refusal | None:
    if rights.has_every_right or deciding(rights.reaching(ask, allows=True)):
        return None
    late = deciding(grant for grant in rights.matching(ask, allows=True) if grant.expired(ask.now))
    return Refusal("grant_expired", late.id) if late else Refusal("no_grant")


def two_people(rights: Rights, ask: Ask) -> Refusal | None:
    if ask.own_proposal and ask.action is Action.APPROVE:
        return Refusal("same_person")
    if ask.executor and ask.action in (Action.RECONCILE, Action.APPROVE):
        return Refusal("sod_executor")
    if ask.to_self and ask.action is Action.MANAGE_GRANTS:
        return Refusal("sod_self_grant")
    return None


CHECKS: tuple[tuple[str, Callable[[Rights, Ask], Refusal | None]], ...] = (
    ("credentials", credentials),
    ("principal_kind", principal_kind),
    ("deny", denied),
    ("allow", without_allow),
    ("separation_of_duties", two_people),
)
