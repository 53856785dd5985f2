"""The demo's people (docs/permissions.md): the fixed cast of `manage.py demo` and of the tests."""

from dataclasses import dataclass

from runs.models import Queue, Tenant, User
from runs.permissions import TEMPLATES, Action, Actor, Line, Scope, changing, in_queue
from runs.permissions.accounts import service_account
from runs.permissions.grants import write_grants

TENANT, QUEUES = "acme", ("mail", "ledger")


@dataclass(frozen=True)
class Part:
    """One of the cast and what they may do."""

    name: str
    lines: tuple[Line, ...]
    owner_key: str = ""
    administrates: bool = False


PEOPLE = (
    Part("sam", TEMPLATES["support"]),
    Part("lena", TEMPLATES["lead"]),
    Part("omar", TEMPLATES["operator"]),
    Part("olga", (Line(Action.VIEW, Scope.SELF), Line(Action.CANCEL, Scope.SELF)), owner_key="customer-1"),
    Part("aud", TEMPLATES["auditor"]),
    Part("ada", TEMPLATES["administrator"], administrates=True),
)
WORKER, SPONSOR = Part("w1", TEMPLATES["worker"]), "omar"


def cast(password: str | None = None) -> dict[str, User]:
    """Everybody by name, made where they are missing; people sign in with `password`; without, nobody can."""
    tenant, _ = Tenant.objects.get_or_create(name=TENANT)
    for queue in QUEUES:
        Queue.objects.get_or_create(tenant=tenant, name=queue)
    with changing(Actor.system(tenant)) as change:
        here = {user.name: user for user in User.objects.filter(tenant=tenant).select_related("tenant")}
        for part in PEOPLE:
            if part.name not in here:
                here[part.name] = _person(tenant, part)
                write_grants(change, here[part.name], in_queue("mail", part.lines))
            here[part.name].set_password(password)
            here[part.name].save(update_fields=["password"])
        if WORKER.name not in here:
            here[WORKER.name] = service_account(change, WORKER.name, sponsor=here[SPONSOR])
            write_grants(change, here[WORKER.name], in_queue("mail", WORKER.lines))
    return here


def _person(tenant: Tenant, part: Part) -> User:
    return User.objects.create(
        username=part.name,
        name=part.name,
        tenant=tenant,
        owner_key=part.owner_key,
        is_staff=part.administrates,
        is_superuser=part.administrates,
    )
