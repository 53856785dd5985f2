"""Drills: a canary for each account that works, to prove on a quiet day that the stop path works.

It takes the way of a signal from the database to the worker's process and back, and stops nothing.
"""

import secrets
from collections.abc import Collection, Sequence
from datetime import timedelta

from runs import ledger
from runs.models import Drill, Tenant, Token
from runs.permissions import Action

EVERY = 1.0  #: seconds between two looks of a server
LIFE = timedelta(minutes=1)  #: after which a canary that nobody took is nobody's


def ask(tenant: Tenant | None = None) -> list[Drill]:
    """A canary for each service account that holds a live token to execute; of one tenant, or of all."""
    now = ledger.clock()
    live = Token.objects.filter(revoked_at__isnull=True, expires_at__gt=now).select_related("user__tenant")
    may_work = {token.user for token in live if Action.EXECUTE in token.actions and token.user.is_active}
    accounts = [user for user in may_work if tenant is None or user.tenant_id == tenant.pk]
    return Drill.objects.bulk_create(
        Drill(tenant=user.tenant, user=user, drill_id=secrets.token_hex(16), asked_at=now)
        for user in sorted(accounts, key=lambda user: user.username)
    )


def take(accounts: Collection[int]) -> list[tuple[int, str]]:
    """The canaries of these accounts that wait, with whose they are; from now on they count as sent."""
    recent = Drill.objects.filter(sent_at__isnull=True, asked_at__gt=ledger.clock() - LIFE)
    return [
        (user_id, drill_id)
        for user_id, drill_id in recent.filter(user_id__in=accounts).values_list("user_id", "drill_id")
        if recent.filter(drill_id=drill_id).update(sent_at=ledger.clock())
    ]


def heard(user_id: int, drill_id: str) -> None:
    """It was said back; the first time counts."""
    own = Drill.objects.filter(
        user_id=user_id, drill_id=drill_id, sent_at__isnull=False, heard_at__isnull=True
    )
    own.update(heard_at=ledger.clock())


def outcome(drills: Sequence[Drill]) -> list[Drill]:
    """The same drills as they are now."""
    now = Drill.objects.filter(pk__in=[drill.pk for drill in drills]).select_related("user__tenant")
    return sorted(now, key=lambda drill: drill.user.username)
