"""Principals: who is active, in which group, whose service account. Each change is one transaction.

A new principal holds no rights. Nobody changes their own account, nor shakes off one that they answer for.
Tokens are `tokens.py`, groups `groups.py`.
"""

import re
import secrets
from dataclasses import dataclass

from django.contrib.auth.models import Group
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from runs.errors import FieldError, Invalid
from runs.models import Tenant, User
from runs.protocol.fields import ID

from .actor import Actor
from .changing import Change, changing
from .grants import write_grants
from .groups import called, groups_of
from .templates import TEMPLATES

#: Receipts and pages call the server and its verifiers so: nobody else may be called that.
RESERVED = re.compile(r"system|verifier(:.*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Standing:
    """What may change about an account. `administers`: may enter the admin, which gives no right."""

    active: bool
    owner_key: str = ""
    sponsor: User | None = None
    administers: bool = False
    groups: tuple[Group, ...] = ()


def set_active(actor: Actor, user: User, active: bool) -> None:
    """Switch a principal off, or on again. Its next decision, and its sockets, know it at once."""
    with changing(actor) as change:
        found = change.own(user)
        before = as_text(found)
        found.is_active = active
        found.save(update_fields=["is_active"])
        _keep(change, found, before)


def join_group(actor: Actor, user: User, group: Group) -> None:
    """Raises NotAllowed: `sod_self_grant` for oneself."""
    with changing(actor) as change:
        change.authorise(gains=user)
        _joins(change, change.own(user), {group})


def leave_group(actor: Actor, user: User, group: Group) -> None:
    """The same rule: a group can hold a ban too, and nobody lifts their own."""
    with changing(actor) as change:
        change.authorise(gains=user)
        _leaves(change, change.own(user), {group})


def check_name(username: str) -> None:
    """Raises Django's ValidationError for a name that no person can have."""
    UnicodeUsernameValidator()(username)  # no "/": that is how service accounts are called
    if RESERVED.fullmatch(username):
        raise ValidationError(_("This name is the server's own."))
    User(username=username, name=username).clean_fields(exclude=["tenant", "password"])


def new_administrator(tenant: Tenant, username: str) -> str:
    """A person who may manage the tenant's grants and enter the admin; returns the password, shown once.

    For who has the machine, never over HTTP. Raises Django's ValidationError for a name that won't do.
    """
    check_name(username)
    password = secrets.token_urlsafe(18)
    with changing(Actor.system(tenant)) as change:
        user = new_person(change, username, username, password=password)
        stand(change, user, Standing(active=True, administers=True))
        write_grants(change, user, TEMPLATES["administrator"], reason="the first administrator")
    return password


def new_person(change: Change, username: str, name: str, *, password: str | None = None) -> User:
    """Somebody who signs in as `username` and is called `name`, for good; without a password nobody can yet.

    Raises Invalid for a name that is taken or won't do.
    """
    user = User(username=username, name=name, tenant_id=change.actor.tenant_id)
    user.set_password(password)
    faults = {"name": _("This name is the server's own.")} if RESERVED.fullmatch(name) else {}
    try:
        UnicodeUsernameValidator()(username)  # no "/": that is how service accounts are called
        user.full_clean()
    except ValidationError as error:
        told = error.message_dict if hasattr(error, "error_dict") else {"username": error.messages}
        faults |= {field: " ".join(messages) for field, messages in told.items()}
    if faults:
        raise Invalid(*(FieldError(field, fault) for field, fault in faults.items()))
    user.save()
    change.keep("account: made", user.name, after=f"person, signs in as {user.username}")
    return user


def stand(change: Change, user: User, standing: Standing) -> None:
    """Raises NotAllowed: `sod_self_grant` for oneself, and for an account that oneself answers for."""
    change.authorise(gains=user)
    found = change.own(user)
    _check(change, found, standing)
    if found.sponsor_id != (standing.sponsor and standing.sponsor.pk):
        change.authorise(gains=found.sponsor)
    before = as_text(found)
    found.is_active, found.owner_key, found.sponsor = standing.active, standing.owner_key, standing.sponsor
    found.is_staff = found.is_superuser = standing.administers
    found.save()
    _keep(change, found, before)
    mine = groups_of(change.actor.tenant_name)
    wanted = set(mine.filter(pk__in=[group.pk for group in standing.groups]))
    member = set(mine.filter(user=found))
    _joins(change, found, wanted - member)
    _leaves(change, found, member - wanted)


def as_text(user: User) -> str:
    """What may change about an account, but for its groups, for the trail."""
    words = [
        "on" if user.is_active else "off",
        f"owner key {user.owner_key}" if user.owner_key else "",
        f"sponsor {user.sponsor.name}" if user.sponsor else "",
        "enters the admin" if user.is_staff else "",
    ]
    return ", ".join(filter(None, words))


def _keep(change: Change, user: User, before: str) -> None:
    if (after := as_text(user)) != before:
        change.keep("account: changed", user.name, before, after)


def _joins(change: Change, user: User, groups: set[Group]) -> None:
    user.groups.add(*groups)
    for group in sorted(groups, key=called):
        change.keep("member: added", user.name, after=called(group))


def _leaves(change: Change, user: User, groups: set[Group]) -> None:
    user.groups.remove(*groups)
    for group in sorted(groups, key=called):
        change.keep("member: removed", user.name, before=called(group))


def _check(change: Change, user: User, standing: Standing) -> None:
    if standing.sponsor:
        _check_sponsor(change, standing.sponsor)
    service = user.kind == User.Kind.SERVICE
    if standing.sponsor and not service:
        raise Invalid(FieldError("sponsor", _("Only a service account has somebody who answers for it.")))
    if standing.administers and service:
        raise Invalid(FieldError("administers", _("A service account never enters the admin.")))


def _check_sponsor(change: Change, sponsor: User) -> None:
    if sponsor.tenant_id != change.actor.tenant_id or sponsor.kind != User.Kind.PERSON:
        raise Invalid(FieldError("sponsor", _("A sponsor is a person of the same tenant.")))


def new_password(change: Change, user: User, password: str) -> None:
    """Of another person, who then has no session any more. Raises NotAllowed (`sod_self_grant`), Invalid."""
    change.authorise(gains=user)
    found = change.own(user)
    if found.kind != User.Kind.PERSON:
        raise Invalid(FieldError("password", _("A service account has tokens, never a password.")))
    found.set_password(password)
    found.save(update_fields=["password"])
    change.keep("password: set", found.name)


def service_account(change: Change, name: str, sponsor: User | None) -> User:
    """The tenant's service account of that name, made if there is none; `sponsor` answers for it from now."""
    if not re.fullmatch(ID, name) or RESERVED.fullmatch(name):
        raise Invalid(FieldError("name", _("1 to 128 of A-Z a-z 0-9 . _ : -, the first a letter or digit.")))
    if sponsor:
        _check_sponsor(change, sponsor)
    account = User.objects.filter(tenant_id=change.actor.tenant_id, name=name).first()
    if account is None:
        username = f"{change.actor.tenant_name}/{name}"
        account = User(username=username, name=name, tenant_id=change.actor.tenant_id, kind=User.Kind.SERVICE)
        account.set_unusable_password()
    if account.kind != User.Kind.SERVICE:
        raise Invalid(FieldError("name", _("This is a person: people use no tokens.")))
    new, before = account.pk is None, as_text(account)
    account.sponsor = sponsor or account.sponsor
    account.save()
    if new:
        change.keep("account: made", name, after=f"service account, {as_text(account)}")
    else:
        _keep(change, account, before)
    return account
