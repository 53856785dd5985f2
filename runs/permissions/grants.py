"""Giving and taking rights. A grant is never changed, only revoked once; what it means is `decision.py`."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import Group
from django.utils.translation import gettext as _

from runs.errors import FieldError, Invalid, NotVisible
from runs.models import Grant, Queue, User

from .actor import Actor
from .changing import Change, changing
from .terms import TENANT_WIDE, Action, Held, Scope


@dataclass(frozen=True)
class Line:
    """What one grant says; the column that its scope needs is filled, the others are empty."""

    action: Action
    scope: Scope = Scope.TENANT
    allows: bool = True
    queue: str = ""
    owner: str = ""
    job: str = ""

    def as_held(self, now: datetime) -> Held:
        """As though it were granted, from now on: for "what if". No grant has the id 0."""
        return Held(0, self.action, self.allows, self.scope, self.queue, self.owner, self.job, now, None)

    def check(self) -> None:
        """Raises Invalid where nothing could ever be reached by it, or the table would refuse it."""
        filled = {name for name in ("queue", "owner", "job") if getattr(self, name)}
        if filled != {self.scope} & {"queue", "owner", "job"}:
            raise Invalid(
                FieldError("scope", _("The scope and the field that it needs don't fit each other."))
            )
        if self.action in TENANT_WIDE and self.scope is not Scope.TENANT:
            raise Invalid(
                FieldError("scope", _("This action is about the whole tenant, and so is its grant."))
            )


def grant(
    actor: Actor,
    subject: User | Group,
    lines: Iterable[Line],
    *,
    not_before: datetime | None = None,
    expires_at: datetime | None = None,
    reason: str = "",
) -> list[Grant]:
    """One grant for each line, live from `not_before` (now) until `expires_at` (for ever).

    Raises NotAllowed (`sod_self_grant` for oneself and one's own groups), NotVisible, Invalid.
    """
    with changing(actor) as change:
        return write_grants(
            change, subject, lines, not_before=not_before, expires_at=expires_at, reason=reason
        )


def write_grants(
    change: Change,
    subject: User | Group,
    lines: Iterable[Line],
    *,
    not_before: datetime | None = None,
    expires_at: datetime | None = None,
    reason: str = "",
) -> list[Grant]:
    """The same, inside a change that is under way."""
    change.authorise(gains=subject)
    start = not_before or change.now
    if expires_at is not None and expires_at <= start:
        raise Invalid(FieldError("expires_at", _("A right must end after it begins.")))
    lines = list(lines)
    for line in lines:
        line.check()
    known_queues(change, {line.queue for line in lines if line.queue})
    user, group = (None, subject) if isinstance(subject, Group) else (change.own(subject), None)
    grants = [
        Grant(
            tenant_id=change.actor.tenant_id,
            user=user,
            group=group,
            action=line.action,
            effect=Grant.Effect.ALLOW if line.allows else Grant.Effect.DENY,
            scope=line.scope,
            queue=line.queue,
            owner=line.owner,
            job=line.job,
            not_before=start,
            expires_at=expires_at,
            reason=reason,
            granted_by_id=change.actor.user_id,
            granted_at=change.now,
        )
        for line in lines
    ]
    return Grant.objects.bulk_create(grants)


def revoke_grant(actor: Actor, grant_id: int) -> Grant:
    """Ends the grant now, for ever; one that was revoked before stays as it was.

    Raises NotVisible, NotAllowed (`sod_self_grant` where it would lift a ban from oneself).
    """
    with changing(actor) as change:
        return end_grant(change, grant_id)


def end_grant(change: Change, grant_id: int) -> Grant:
    """The same, inside a change that is under way."""
    found = Grant.objects.filter(pk=grant_id, tenant_id=change.actor.tenant_id).first()
    if found is None:
        raise NotVisible
    change.authorise(gains=(found.user or found.group) if found.effect == Grant.Effect.DENY else None)
    if found.revoked_at is None:
        found.revoked_at, found.revoked_by_id = change.now, change.actor.user_id
        found.save(update_fields=["revoked_at", "revoked_by"])
    return found


def known_queues(change: Change, names: set[str]) -> None:
    """Raises Invalid for a queue that the tenant does not have: a right in it would reach nothing."""
    known = Queue.objects.filter(tenant_id=change.actor.tenant_id, name__in=names).values_list(
        "name", flat=True
    )
    if unknown := sorted(names - set(known)):
        raise Invalid(FieldError("queue", _("There is no queue %(name)s here.") % {"name": repr(unknown[0])}))
