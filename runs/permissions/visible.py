"""The decision's steps 1 to 4 as one SQL condition, for lists, counts, charts, search, exports and sockets.

Equal to `Rights.judge()` row by row: tests/permissions proves it on random grants. No sub-select but the one
for a token's queues names a column of the row, so each is worked out once for the whole list.
"""

from datetime import datetime
from typing import TypeVar

from django.db.models import Exists, Model, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, Concat, StrIndex

from runs.models import Grant, Token, User

from .actor import Actor
from .decision import BARRED, TENANT_WIDE, Action, Scope
from .rights import grants_of

Row = TypeVar("Row", bound=Model)


def visible(
    rows: QuerySet[Row], actor: Actor, now: datetime, action: Action = Action.VIEW, prefix: str = ""
) -> QuerySet[Row]:
    """The `rows` on whose job the actor may do `action` at `now`, still as one statement.

    `rows` are jobs, or belong to one that `prefix` leads to ("job__"). Rows without a job are left out.
    """
    rows = rows.filter(**{f"{prefix}tenant_id": actor.tenant_id})
    if actor.user_id is None:
        return rows
    me = User.objects.filter(pk=actor.user_id, tenant=actor.tenant_id, is_active=True)
    able = me.exclude(kind=BARRED[action]) if action in BARRED else me
    live = grants_of(actor.user_id, actor.tenant_id).filter(
        Q(expires_at=None) | Q(expires_at__gt=now), action=action, not_before__lte=now
    )
    return rows.filter(
        Exists(able),
        _within_token(actor, now, action, prefix),
        _reached(live.filter(effect=Grant.Effect.ALLOW), me, action, prefix),
        ~_reached(live.filter(effect=Grant.Effect.DENY), me, action, prefix),
    )


def _within_token(actor: Actor, now: datetime, action: Action, prefix: str) -> Q:
    """The token is live and holds the action and the row's queue.

    Both are looked for in the JSON's text, in their quotes: the engines share no JSON function for it. A
    queue's name is an id (docs/protocol.md, section 2), so JSON writes it as it is.
    """
    if actor.token_id is None:
        return Q()
    live = Token.objects.filter(pk=actor.token_id, user=actor.user_id, revoked_at=None, expires_at__gt=now)
    able = live.annotate(a=StrIndex(Cast("actions", TextField()), Value(f'"{action}"'))).filter(a__gt=0)
    everywhere = Q(Exists(able.filter(queues=[])))
    if action in TENANT_WIDE:
        return everywhere
    quoted = Concat(Value('"'), OuterRef(f"{prefix}queue"), Value('"'))
    here = able.annotate(q=StrIndex(Cast("queues", TextField()), quoted)).filter(q__gt=0)
    return everywhere | Q(Exists(here))


def _reached(grants: QuerySet[Grant], me: QuerySet[User], action: Action, prefix: str) -> Q:
    """One of the grants reaches the row's job, by its scope."""

    def scoped(scope: Scope) -> QuerySet[Grant]:
        return grants.filter(scope=scope)

    whole = Q(Exists(scoped(Scope.TENANT)))
    if action in TENANT_WIDE:
        return whole
    mine = me.filter(Exists(scoped(Scope.SELF))).exclude(owner_key="")
    return (
        whole
        | Q(**{f"{prefix}queue__in": scoped(Scope.QUEUE).values("queue")})
        | Q(**{f"{prefix}owner__in": scoped(Scope.OWNER).values("owner")})
        | Q(**{f"{prefix}owner__in": mine.values("owner_key")})
        | Q(**{f"{prefix}job_id__in": scoped(Scope.JOB).values("job")})
    )
