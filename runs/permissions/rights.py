"""Reads a principal's rights from the database: two queries, and nothing remembered.

Inside a command it is called after the tenant's lock, by a statement of its own (`locks.py`). What the rights
mean is `decision.py`.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db.models import Q

from runs.models import Grant, Token, User, plain
from runs.protocol.states import ActorType

from .actor import Actor
from .decision import Rights
from .terms import Ceiling, Held

COLUMNS = ("id", "action", "effect", "scope", "queue", "owner", "job", "not_before", "expires_at")
USER = ((User, "kind"), (User, "is_active"), (User, "owner_key"))
TOKEN = ((Token, "actions"), (Token, "queues"), (Token, "expires_at"), (Token, "revoked_at"))
GRANT = tuple((Grant, name) for name in COLUMNS)


def rights_of(actor: Actor, now: datetime) -> Rights:
    """Everything the decision needs to know of the actor. Revoked grants are not among it."""
    if actor.user_id is None:
        return Rights(actor.type)
    principal = _principal(actor)
    if principal is None:
        return Rights(actor.type, active=False)
    kind, active, owner_key, *token = principal
    return Rights(
        kind=ActorType(kind),
        active=active,
        owner_key=owner_key,
        token=_ceiling(*token) if token else None,
        grants=tuple(_held(*row) for row in _grants(actor)),
    )


def rights_of_all(users: Collection[User], tenant_id: int) -> dict[int, Rights]:
    """The rights of many principals of one tenant as they sign in, without a token, by their id: three
    queries, however many they are. For pages that say who may; a command asks for one."""
    ids = [user.pk for user in users]
    members = User.groups.through.objects.filter(user_id__in=ids).values_list("group_id", "user_id")
    in_group: dict[int, list[int]] = {}
    for group, member in members:
        in_group.setdefault(group, []).append(member)
    held: dict[int, list[Held]] = {pk: [] for pk in ids}
    whose = Q(user_id__in=ids) | Q(group_id__in=list(in_group))
    live = Grant.objects.filter(whose, tenant_id=tenant_id, revoked_at=None)
    for user_id, group_id, *row in live.values_list("user_id", "group_id", *COLUMNS):
        for each in in_group[group_id] if group_id else [user_id]:
            held[each].append(_held(*row))
    return {
        user.pk: Rights(
            kind=ActorType(user.kind),
            active=user.is_active,
            owner_key=user.owner_key,
            grants=tuple(held[user.pk]),
        )
        for user in users
    }


def _grants(actor: Actor) -> list[tuple[Any, ...]]:
    """The principal's own grants and its groups', in its tenant, but for the revoked."""
    return plain.values(
        GRANT,
        "FROM runs_grant WHERE tenant_id = %s AND revoked_at IS NULL AND (user_id = %s OR group_id IN"
        " (SELECT group_id FROM runs_user_groups WHERE user_id = %s))",
        actor.tenant_id,
        actor.user_id,
        actor.user_id,
    )


def _principal(actor: Actor) -> tuple[Any, ...] | None:
    """USER, and TOKEN where it came by one, as they are now. A token that is gone leaves nobody."""
    if actor.token_id is None:
        tail = "FROM runs_user WHERE id = %s AND tenant_id = %s"
        found = plain.values(USER, tail, actor.user_id, actor.tenant_id)
    else:
        tail = (
            "FROM runs_token JOIN runs_user ON runs_user.id = runs_token.user_id"
            " WHERE runs_token.id = %s AND runs_user.id = %s AND runs_user.tenant_id = %s"
        )
        found = plain.values(USER + TOKEN, tail, actor.token_id, actor.user_id, actor.tenant_id)
    return found[0] if found else None


def _ceiling(
    actions: list[str], queues: list[str], expires_at: datetime, revoked_at: datetime | None
) -> Ceiling:
    return Ceiling(frozenset(actions), frozenset(queues), expires_at, revoked_at is not None)


def _held(
    pk: int,
    action: str,
    effect: str,
    scope: str,
    queue: str,
    owner: str,
    job: str,
    not_before: datetime,
    expires_at: datetime | None,
) -> Held:
    return Held(pk, action, effect == Grant.Effect.ALLOW, scope, queue, owner, job, not_before, expires_at)
