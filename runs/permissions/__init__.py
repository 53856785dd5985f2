"""Who may do what (docs/permissions.md): one pure decision, and the same rules as one SQL condition.

    terms      actions, scopes, grants; pure    decision   the six steps; pure
    rights     what a principal holds           visible    the decision as SQL
    locks      the tenant's lock                tokens     whose a bearer token is
    can        `has_perm("can.ACTION", job)`    refusals   what a refusal says, and how often

Changing rights, each one transaction that holds the lock alone (`changing`): `grants` and their `templates`,
`accounts`, `issuing` of tokens.
"""

from .accounts import check_name, join_group, leave_group, new_administrator, set_active
from .actor import Actor
from .can import can, has_executed, has_proposed
from .changing import changing, rights_changed
from .decision import Rights, Verdict
from .grants import Line, grant, revoke_grant
from .issuing import issue_token, open_account, revoke_token
from .locks import lock_exclusive, lock_principal, lock_receiver, lock_shared
from .refusals import SENTENCES, WAYS, count_refusal, counting, error_of
from .rights import rights_of, rights_of_all, standing
from .templates import TEMPLATES, in_queue
from .terms import TENANT_WIDE, WHOLE, Action, Scope, Target
from .tokens import authenticate
from .visible import visible

__all__ = [
    "SENTENCES",
    "TEMPLATES",
    "TENANT_WIDE",
    "WAYS",
    "WHOLE",
    "Action",
    "Actor",
    "Line",
    "Rights",
    "Scope",
    "Target",
    "Verdict",
    "authenticate",
    "can",
    "changing",
    "check_name",
    "count_refusal",
    "counting",
    "error_of",
    "grant",
    "has_executed",
    "has_proposed",
    "in_queue",
    "issue_token",
    "join_group",
    "leave_group",
    "lock_exclusive",
    "lock_principal",
    "lock_receiver",
    "lock_shared",
    "new_administrator",
    "open_account",
    "revoke_grant",
    "revoke_token",
    "rights_changed",
    "rights_of",
    "rights_of_all",
    "set_active",
    "standing",
    "visible",
]
