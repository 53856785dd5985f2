"""Reads a principal's rights from the database, in one statement, and remembers nothing.

Inside a command it is called after the tenant's lock, by a statement of its own (`locks.py`). What the rights
mean is `decision.py`.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q

from runs import ledger
from runs.models import Grant, Tenant, Token, User, plain
from runs.protocol.states import ActorType

from .actor import Actor
from .decision import Rights
from .terms import Ceiling, Held

COLUMNS = ("id", "action", "effect", "scope", "queue", "owner", "job", "not_before", "expires_at")
TENANT_FIELDS = ("id", "name", "sealed_generation")
TENANT = tuple((Tenant, name) for name in TENANT_FIELDS)
USER = ((User, "kind"), (User, "is_active"), (User, "owner_key"))
TOKEN = ((Token, "actions"), (Token, "queues"), (Token, "expires_at"), (Token, "revoked_at"))
GRANT = tuple((Grant, name) for name in COLUMNS)


class Standing(NamedTuple):
    """Where an actor stands now: what a command reads beside the row that it has locked."""

    tenant: Tenant
    now: datetime
    rights: Rights


def rights_of(actor: Actor, now: datetime) -> Rights:
    """Everything the decision needs to know of the actor. Revoked grants are not among it."""
    return standing(actor).rights


def standing(actor: Actor) -> Standing:
    """The actor's tenant, the time, and the actor's rights. A token that is gone leaves nobody."""
    columns: tuple[plain.Column, ...] = (ledger.time_now(), *TENANT)
    tail, params = "FROM runs_tenant", []
    if actor.user_id is not None:
        columns += (*USER, *GRANT)
        tail += " LEFT JOIN runs_user ON runs_user.id = %s AND runs_user.tenant_id = runs_tenant.id"
        params = [actor.user_id]
        if actor.token_id is not None:
            columns += ((Token, "id"), *TOKEN)
            tail += " LEFT JOIN runs_token ON runs_token.id = %s AND runs_token.user_id = runs_user.id"
            params += [actor.token_id]
        tail += (
            " LEFT JOIN runs_grant ON runs_grant.tenant_id = runs_tenant.id AND runs_grant.revoked_at IS NULL"
            " AND (runs_grant.user_id = %s OR runs_grant.group_id IN"
            " (SELECT group_id FROM runs_user_groups WHERE runs_user_groups.user_id = %s))"
        )
        params += [actor.user_id, actor.user_id]
    rows = plain.values(columns, f"{tail} WHERE runs_tenant.id = %s", *params, actor.tenant_id)
    now, *tenant = rows[0][: 1 + len(TENANT)]
    read = [row[1 + len(TENANT) :] for row in rows]
    return Standing(Tenant.from_db("default", TENANT_FIELDS, tenant), ledger.clock(now), _rights(actor, read))


def _rights(actor: Actor, rows: list[tuple[Any, ...]]) -> Rights:
    """Of USER, GRANT and for a token its id and TOKEN: a row for each grant, at least one row."""
    if actor.user_id is None:
        return Rights(actor.type)
    kind, active, owner_key = rows[0][: len(USER)]
    token_id, *token = rows[0][len(USER) + len(GRANT) :] or (None,)
    if kind is None or token_id != actor.token_id:
        return Rights(actor.type, active=False)
    grants = [row[len(USER) : len(USER) + len(GRANT)] for row in rows]
    return Rights(
        kind=ActorType(kind),
        active=active,
        owner_key=owner_key,
        token=_ceiling(*token) if token else None,
        grants=tuple(_held(*grant) for grant in grants if grant[0] is not None),
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
