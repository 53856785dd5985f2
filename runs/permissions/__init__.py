"""Who may do what (docs/permissions.md): one pure decision, and the same rules as one SQL condition.

decision   the six steps; pure         rights    what a principal holds, read from the database
visible    the decision as SQL         locks     the tenant's lock, and the clock read after it
tokens     who a bearer token is       can       `user.has_perm("can.ACTION", job)`
refusals   what a refusal says, and how often
"""

from .actor import Actor
from .can import can, has_executed, has_proposed
from .decision import TENANT_WIDE, WHOLE, Action, Rights, Target, Verdict
from .locks import database_now, lock_exclusive, lock_shared
from .refusals import count_refusal, error_of
from .rights import rights_of
from .tokens import authenticate
from .visible import visible

__all__ = [
    "TENANT_WIDE",
    "WHOLE",
    "Action",
    "Actor",
    "Rights",
    "Target",
    "Verdict",
    "authenticate",
    "can",
    "count_refusal",
    "database_now",
    "error_of",
    "has_executed",
    "has_proposed",
    "lock_exclusive",
    "lock_shared",
    "rights_of",
    "visible",
]
