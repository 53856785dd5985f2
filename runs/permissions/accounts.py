"""Principals: who is active, in which group, whose service account. Each change is one transaction.

A new principal holds no rights. Tokens are `tokens.py`.
"""

import re
import secrets

from django.contrib.auth.models import Group
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.utils.translation import gettext as _

from runs.errors import FieldError, Invalid
from runs.models import Tenant, User
from runs.protocol.fields import ID

from .actor import Actor
from .changing import Change, changing
from .grants import write_grants
from .templates import TEMPLATES


def set_active(actor: Actor, user: User, active: bool) -> None:
    """Switch a principal off, or on again. Its next decision, and its sockets, know it at once."""
    with changing(actor) as change:
        found = change.own(user)
        found.is_active = active
        found.save(update_fields=["is_active"])


def join_group(actor: Actor, user: User, group: Group) -> None:
    """Raises NotAllowed: `sod_self_grant` for oneself."""
    with changing(actor) as change:
        change.authorise(gains=user)
        change.own(user).groups.add(group)


def leave_group(actor: Actor, user: User, group: Group) -> None:
    """The same rule: a group can hold a ban too, and nobody lifts their own."""
    with changing(actor) as change:
        change.authorise(gains=user)
        change.own(user).groups.remove(group)


def check_name(username: str) -> None:
    """Raises Django's ValidationError for a name that no person can have."""
    UnicodeUsernameValidator()(username)  # no "/": that is how service accounts are called
    User(username=username, name=username).clean_fields(exclude=["tenant", "password"])


def new_administrator(tenant: Tenant, username: str) -> str:
    """A person who may manage the tenant's grants and enter the admin; returns the password, shown once.

    For who has the machine, never over HTTP. Raises Django's ValidationError for a name that won't do.
    """
    check_name(username)
    password = secrets.token_urlsafe(18)
    user = User(username=username, name=username, tenant=tenant, is_staff=True, is_superuser=True)
    user.set_password(password)
    user.full_clean()
    with changing(Actor.system(tenant)) as change:
        user.save()
        write_grants(change, user, TEMPLATES["administrator"], reason="the first administrator")
    return password


def service_account(change: Change, name: str, sponsor: User | None) -> User:
    """The tenant's service account of that name, made if there is none; `sponsor` answers for it from now."""
    if not re.fullmatch(ID, name):
        raise Invalid(FieldError("name", _("1 to 128 of A-Z a-z 0-9 . _ : -, the first a letter or digit.")))
    if sponsor and (sponsor.tenant_id != change.actor.tenant_id or sponsor.kind != User.Kind.PERSON):
        raise Invalid(FieldError("sponsor", _("A sponsor is a person of the same tenant.")))
    account = User.objects.filter(tenant_id=change.actor.tenant_id, name=name).first()
    if account is None:
        username = f"{change.actor.tenant_name}/{name}"
        account = User(username=username, name=name, tenant_id=change.actor.tenant_id, kind=User.Kind.SERVICE)
        account.set_unusable_password()
    if account.kind != User.Kind.SERVICE:
        raise Invalid(FieldError("name", _("This is a person: people use no tokens.")))
    account.sponsor = sponsor or account.sponsor
    account.save()
    return account
