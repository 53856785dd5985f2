"""How rights are changed: one transaction that holds the tenant's lock alone, by somebody who may.

Grants, group membership, `is_active`, `owner_key`, sponsors and tokens change inside `changing()` and nowhere
else, so that no decision overlaps a change (docs/permissions.md, "The decision"). What changes: `grants.py`,
`accounts.py`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.contrib.auth.models import Group
from django.db import OperationalError, transaction
from django.dispatch import Signal

from runs import ledger
from runs.errors import Busy, NotVisible
from runs.models import Alteration, User
from runs.whence import ADDRESS

from .actor import Actor
from .decision import Rights
from .locks import lock_exclusive
from .refusals import error_of
from .rights import rights_of
from .terms import WHOLE, Action

#: Sent after the commit with `tenant_id`: sockets of this process judge again at once.
rights_changed = Signal()


@dataclass(frozen=True)
class Change:
    """A change under way: who makes it, when, and what they hold."""

    actor: Actor
    now: datetime
    rights: Rights
    reason: str = ""

    def keep(self, what: str, named: str, before: str = "", after: str = "") -> None:
        """Write into the trail what is altered here. Grants are not: each is its own record."""
        Alteration.objects.create(
            tenant_id=self.actor.tenant_id,
            by_id=self.actor.user_id,
            what=what,
            object=named,
            before=before,
            after=after,
            reason=self.reason,
            address=ADDRESS.get(),
            at=self.now,
        )

    def authorise(self, gains: User | Group | None = None) -> None:
        """Raises unless the actor may manage grants, and is not itself who `gains` by it."""
        to_self = gains is not None and self._is_self(gains)
        verdict = self.rights.judge(Action.MANAGE_GRANTS, WHOLE, to_self=to_self, now=self.now)
        if not verdict.allowed:
            raise error_of(verdict)

    def _is_self(self, subject: User | Group) -> bool:
        if isinstance(subject, Group):
            return User.objects.filter(pk=self.actor.user_id or 0, groups=subject).exists()
        return subject.pk == self.actor.user_id

    def own(self, user: User) -> User:
        """The row as it is now. Raises NotVisible for one of another tenant."""
        found = User.objects.filter(pk=user.pk, tenant_id=self.actor.tenant_id).first()
        if found is None:
            raise NotVisible
        return found


@contextmanager
def changing(actor: Actor, reason: str = "") -> Iterator[Change]:
    """Change rights in the actor's tenant inside this block, all or nothing; nobody decides meanwhile.
    `reason` is kept with what `keep` is told.

    Raises NotAllowed or Unauthenticated without `manage_grants`, Busy where the lock did not come.
    """
    try:
        with transaction.atomic(durable=True):
            lock_exclusive(actor.tenant_id)
            now = ledger.clock()
            change = Change(actor, now, rights_of(actor, now), reason)
            change.authorise()
            yield change
            transaction.on_commit(partial(rights_changed.send, None, tenant_id=actor.tenant_id), robust=True)
    except OperationalError as error:
        raise Busy from error
