"""What a tenant is set up with, as its own principals may see it: queues and causes; and who is asking."""

from typing import Any

from runs import causes as organ
from runs.ledger import as_text
from runs.models import Queue, Token
from runs.permissions import Actor


def queues(actor: Actor) -> dict[str, Any]:
    """`{"queues": [{"name", "id_prefix", "reconcile_needs"}]}`, which every principal may know."""
    rows = Queue.objects.filter(tenant_id=actor.tenant_id).order_by("name")
    return {"queues": list(rows.values("name", "id_prefix", "reconcile_needs"))}


def causes(actor: Actor) -> dict[str, Any]:
    """`{"causes": [{"code", "short", "text", "retired"}]}`."""
    return {"causes": organ.listing(actor.tenant_id)}


def whoami(actor: Actor) -> dict[str, Any]:
    """Who the credentials stand for, and the token they are (null in a session)."""
    token = Token.objects.filter(pk=actor.token_id).first() if actor.token_id else None
    shown = token and {
        "prefix": token.prefix,
        "expires_at": as_text(token.expires_at),
        "actions": token.actions,
    }
    return {"name": actor.name, "kind": str(actor.type), "tenant": actor.tenant_name, "token": shown}
