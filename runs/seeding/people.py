"""Who does what in the stories: a tenant, its queues, and people of the seed's own, made where missing."""

from dataclasses import dataclass

from django.db import transaction

from runs.models import Grant, Queue, Tenant, User
from runs.permissions import Action, Actor, lock_exclusive

QUEUES = {"mail": "1", "ledger": "1", "shop": "2 for did-not-happen", "books": "2"}
#: name: what it may do, everywhere in the tenant, beside seeing it
SERVICES = dict.fromkeys(("seed-w1", "seed-w2", "seed-w3"), "execute") | {"seed-app": "submit"}
PERSONS = {"seed-ops": "cancel block pause revoke", "seed-sam": "reconcile", "seed-lena": "reconcile approve"}


@dataclass(frozen=True)
class Cast:
    """`actors` by name, "system" and "verifier" among them; `grants`: the grant's id by name and action."""

    tenant: Tenant
    queues: dict[str, str]  #: name: how many people an outcome needs
    actors: dict[str, Actor]
    grants: dict[tuple[str, str], int]

    @classmethod
    def of(cls, tenant_name: str) -> "Cast":
        with transaction.atomic(durable=True):
            tenant, _ = Tenant.objects.get_or_create(name=tenant_name)
            lock_exclusive(tenant.pk)  # grants are given
            for name, needs in QUEUES.items():
                Queue.objects.get_or_create(tenant=tenant, name=name, defaults={"reconcile_needs": needs})
            kinds = dict.fromkeys(SERVICES, User.Kind.SERVICE) | dict.fromkeys(PERSONS, User.Kind.PERSON)
            users = {name: _user(tenant, name, kind) for name, kind in kinds.items()}
            grants = {
                (name, action): _grant(tenant, users[name], action)
                for name, actions in (SERVICES | PERSONS).items()
                for action in ("view", *actions.split())
            }
        actors = {name: Actor.of_user(user) for name, user in users.items()}
        actors |= {"system": Actor.system(tenant), "verifier": Actor.verifier(tenant, "smtp")}
        unprefixed = Queue.objects.filter(tenant=tenant, id_prefix="").order_by("name")
        return cls(tenant, dict(unprefixed.values_list("name", "reconcile_needs")), actors, grants)


def _user(tenant: Tenant, name: str, kind: str) -> User:
    """A principal that nobody can sign in as."""
    user, made = User.objects.get_or_create(
        tenant=tenant, name=name, defaults={"username": f"{tenant.name}/{name}", "kind": kind}
    )
    if made:
        user.set_unusable_password()
        user.save()
    return user


def _grant(tenant: Tenant, user: User, action: str) -> int:
    found = Grant.objects.filter(
        tenant=tenant, user=user, action=Action(action), scope="tenant", revoked_at=None
    )
    return (found.first() or Grant.objects.create(tenant=tenant, user=user, action=action, scope="tenant")).pk
