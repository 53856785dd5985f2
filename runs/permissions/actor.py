"""Who acts: the required first argument of every command. Says who, never what they may."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runs.protocol.states import ActorType

if TYPE_CHECKING:
    from runs.models import Tenant, Token, User


@dataclass(frozen=True)
class Actor:
    """One principal in its tenant. `user_id`: None for the system and verifiers; `token_id`: for sessions."""

    type: ActorType
    name: str
    tenant_id: int
    tenant_name: str
    user_id: int | None = None
    token_id: int | None = None

    @classmethod
    def of_user(cls, user: "User") -> "Actor":
        return cls(ActorType(user.kind), user.name, user.tenant_id, user.tenant.name, user.pk)

    @classmethod
    def of_token(cls, token: "Token") -> "Actor":
        user = token.user
        return cls(ActorType(user.kind), user.name, user.tenant_id, user.tenant.name, user.pk, token.pk)

    @classmethod
    def system(cls, tenant: "Tenant") -> "Actor":
        return cls(ActorType.SYSTEM, "system", tenant.pk, tenant.name)

    @classmethod
    def verifier(cls, tenant: "Tenant", name: str) -> "Actor":
        return cls(ActorType.VERIFIER, name, tenant.pk, tenant.name)
