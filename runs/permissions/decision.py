"""May this principal do this? The six steps of docs/permissions.md, "The decision", in its order; the first
that applies decides. Default deny; a live deny beats every allow.

Pure: no Django, no database, no clock. Not here: what is in the database (`rights.py`), the same rules as SQL
(`visible.py`), and whether the job's state allows it (`runs.protocol`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from runs.protocol.states import ActorType

from .terms import BARRED, RANK, TENANT_WIDE, WHOLE, Action, Ceiling, Held, Scope, Target


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
