"""The cast of the scripts of tests/model, in a tenant: w1 and w2 are services, p1 and p2 people."""

from runs.models import Grant, Queue, Tenant, User
from tests.model.commands import QUEUES

RIGHTS = {"service": "view submit execute", "person": "view cancel block pause revoke reconcile approve seal"}
CAST = ("w1", "w2", "p1", "p2")


def scripted(name: str) -> tuple[Tenant, dict[str, User]]:
    """A tenant with the queues that every script leans on, and its cast."""
    tenant = Tenant.objects.create(name=name)
    for queue, given in QUEUES.items():
        needs = given.reconcile_needs
        Queue.objects.create(
            tenant=tenant, name=queue, id_prefix=given.id_prefix or "", reconcile_needs=needs
        )
    return tenant, {who: _principal(tenant, who) for who in CAST}


def _principal(tenant: Tenant, name: str) -> User:
    kind = "service" if name.startswith("w") else "person"
    user = User.objects.create(username=f"{tenant.name}/{name}", name=name, tenant=tenant, kind=kind)
    Grant.objects.bulk_create(
        Grant(tenant=tenant, user=user, action=action, effect="allow", scope="tenant")
        for action in RIGHTS[kind].split()
    )
    return user
