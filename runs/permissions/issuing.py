"""Issuing and revoking bearer tokens. What a token is, and whose: `tokens.py`."""

from collections.abc import Collection
from datetime import timedelta

from django.db.models import Q
from django.utils.translation import gettext as _

from runs.errors import FieldError, Invalid, NotVisible
from runs.models import Grant, Token, User
from runs.protocol.states import ActorType

from .accounts import service_account
from .actor import Actor
from .changing import Change, changing
from .grants import Line, known_queues, write_grants
from .terms import BARRED, TENANT_WIDE, Action, Scope
from .tokens import digest_of, new_secret

DAYS, MOST_DAYS, MOST_LIVE = 90, 365, 2


def issue_token(
    actor: Actor, account: User, actions: Collection[Action], queues: Collection[str] = (), days: int = DAYS
) -> tuple[Token, str]:
    """A new token and its text, to be shown once: it is not kept. No queues named: all of them.

    Raises NotAllowed, NotVisible; Invalid for a third live token, over a year, or what could never be used.
    """
    with changing(actor) as change:
        return write_token(change, change.own(account), actions, queues, days)


def revoke_token(actor: Actor, token_id: int) -> None:
    """Ends the token now. Raises NotAllowed, NotVisible."""
    with changing(actor) as change:
        end_token(change, token_id)


def end_token(change: Change, token_id: int) -> None:
    """The same, inside a change that is under way."""
    mine = Token.objects.select_related("user").filter(user__tenant_id=change.actor.tenant_id)
    token = mine.filter(pk=token_id).first()
    if token is None:
        raise NotVisible
    if Token.objects.filter(pk=token_id, revoked_at=None).update(revoked_at=change.now):
        change.keep("token: revoked", token.user.name, before=as_text(token))


def as_text(token: Token) -> str:
    """What a token is for, for the trail; never its secret."""
    queues = f" in {' '.join(token.queues)}" if token.queues else ""
    return f"{token}: {' '.join(token.actions)}{queues}, until {token.expires_at:%Y-%m-%d}"


def open_account(
    actor: Actor,
    name: str,
    actions: Collection[Action],
    *,
    queue: str = "",
    days: int = DAYS,
    sponsor: User | None = None,
) -> str:
    """The service account of that name with these rights, on the queue or the tenant; returns a new token.

    All of it or nothing. Rights that it holds already are not granted twice. Raises as `issue_token`.
    """
    with changing(actor) as change:
        account = service_account(change, name, sponsor)
        lines = [Line(action, Scope.QUEUE if queue else Scope.TENANT, queue=queue) for action in actions]
        write_grants(change, account, [line for line in lines if not _holds(change, account, line)])
        return write_token(change, account, actions, [queue] if queue else [], days)[1]


def write_token(
    change: Change, account: User, actions: Collection[Action], queues: Collection[str], days: int
) -> tuple[Token, str]:
    """As `issue_token`, inside a change that is under way."""
    _check(change, account, actions, queues, days)
    prefix, secret = new_secret()
    token = Token.objects.create(
        user=account,
        prefix=prefix,
        secret_hash=digest_of(secret),
        actions=sorted(set(actions)),
        queues=sorted(set(queues)),
        created_at=change.now,
        expires_at=change.now + timedelta(days=days),
    )
    change.keep("token: made", account.name, after=as_text(token))
    return token, f"cb_{prefix}_{secret}"


def _check(
    change: Change, account: User, actions: Collection[Action], queues: Collection[str], days: int
) -> None:
    if account.kind != User.Kind.SERVICE or not account.is_active:
        raise Invalid(FieldError("account", _("Only a service account that is switched on has tokens.")))
    if not 1 <= days <= MOST_DAYS:
        raise Invalid(FieldError("days", _("A token lives 1 to %(days)s days.") % {"days": MOST_DAYS}))
    if not actions:
        raise Invalid(FieldError("actions", _("A token is for at least one action.")))
    if barred := sorted(action for action in actions if BARRED.get(action) is ActorType.SERVICE):
        message = _("No service account may %(action)s.") % {"action": barred[0]}
        raise Invalid(FieldError("actions", message))
    if queues and (wide := TENANT_WIDE.intersection(actions)):
        message = _("%(action)s is about the whole tenant: no queue can be named.") % {"action": min(wide)}
        raise Invalid(FieldError("actions", message))
    known_queues(change, set(queues))
    live = Token.objects.filter(user=account, revoked_at=None, expires_at__gt=change.now).count()
    if live >= MOST_LIVE:
        raise Invalid(FieldError("token", _("The account has two live tokens already: revoke one first.")))


def _holds(change: Change, account: User, line: Line) -> bool:
    same = Grant.objects.filter(
        user=account, tenant_id=account.tenant_id, action=line.action, scope=line.scope, queue=line.queue
    )
    live = same.filter(revoked_at=None, effect=Grant.Effect.ALLOW, not_before__lte=change.now)
    return live.filter(Q(expires_at=None) | Q(expires_at__gt=change.now)).exists()
