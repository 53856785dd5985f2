"""Reads principals' rights from the database: two queries for one, and nothing remembered.

Inside a command it is called after the tenant's lock, by a statement of its own (`locks.py`). What the rights
mean is `decision.py`.
"""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Q, QuerySet

from runs.models import Grant, Token, User
from runs.protocol.states import ActorType

from .actor import Actor
from .decision import Rights
from .terms import Ceiling, Held

COLUMNS = ("id", "action", "effect", "scope", "queue", "owner", "job", "not_before", "expires_at")


def rights_of(actor: Actor, now: datetime) -> Rights:
    """Everything the decision needs to know of the actor. Revoked grants are not among it."""
    if actor.user_id is None:
        return Rights(actor.type)
    user, token = _principal(actor)
    if user is None:
        return Rights(actor.type, active=False)
    return Rights(
        kind=ActorType(user.kind),
        active=user.is_active,
        owner_key=user.owner_key,
        token=_ceiling(token) if token else None,
        grants=tuple(_held(*row) for row in grants_of(user.pk, user.tenant_id).values_list(*COLUMNS)),
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


def grants_of(user_id: int, tenant_id: int) -> QuerySet[Grant]:
    """The principal's own grants and its groups', in its tenant, but for the revoked."""
    groups = User.groups.through.objects.filter(user_id=user_id).values("group_id")
    own = Q(user_id=user_id) | Q(group_id__in=groups)
    return Grant.objects.filter(own, tenant_id=tenant_id, revoked_at=None)


def _principal(actor: Actor) -> tuple[User | None, Token | None]:
    """As they are now. A token that is gone leaves nobody."""
    if actor.token_id is None:
        return User.objects.filter(id=actor.user_id, tenant=actor.tenant_id).first(), None  # type: ignore[misc]
    tokens = Token.objects.filter(pk=actor.token_id, user=actor.user_id, user__tenant=actor.tenant_id)
    token = tokens.select_related("user").first()
    return (token.user, token) if token else (None, None)


def _ceiling(token: Token) -> Ceiling:
    return Ceiling(
        frozenset(token.actions), frozenset(token.queues), token.expires_at, token.revoked_at is not None
    )


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
