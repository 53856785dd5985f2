"""What the filters of a page may be set to, in the reader's tenant; and how long each queue may wait."""

from runs.models import Queue, Tool
from runs.permissions import Actor


def limits_of(actor: Actor) -> dict[str, int]:
    """Every queue by its name, with the seconds after which an unsettled step in it is past target."""
    queues = Queue.objects.filter(tenant_id=actor.tenant_id).order_by("name")
    return dict(queues.values_list("name", "limit_seconds"))


def systems_of(actor: Actor) -> list[tuple[str, str]]:
    """Tools by name and label, as administrators set them up."""
    tools = Tool.objects.filter(tenant_id=actor.tenant_id).order_by("name")
    return [(tool.name, str(tool)) for tool in tools]
