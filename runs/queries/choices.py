"""What the filters of a page may be set to, in the reader's tenant."""

from runs.models import Queue, Tool
from runs.permissions import Actor


def queues_of(actor: Actor) -> list[str]:
    return list(
        Queue.objects.filter(tenant_id=actor.tenant_id).order_by("name").values_list("name", flat=True)
    )


def systems_of(actor: Actor) -> list[tuple[str, str]]:
    """Tools by name and label, as administrators set them up."""
    tools = Tool.objects.filter(tenant_id=actor.tenant_id).order_by("name")
    return [(tool.name, str(tool)) for tool in tools]
