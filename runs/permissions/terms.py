"""What a decision speaks of: actions, scopes, what a grant reaches and when it lives, a token's ceiling.

Pure. Nothing is decided here.
"""

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
