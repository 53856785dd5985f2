"""The tables: columns, constraints, triggers, a snapshot to read them in, and nothing else.

Only `runs.commands` writes jobs, steps, claims, proposals and receipts; only `runs.queries` reads them for
lists and pages. What a column means is said where it stands; why it may hold a value is PROTOCOL (section 1).
"""

from .archives import Archive, ArchivedJob
from .drills import Drill
from .jobs import Claim, Job, Proposal, Step, Tombstone
from .ledger import Delivery, Receipt
from .operations import Operation, OperationJob
from .people import Grant, Refusal, Tenant, Token, User
from .saved_views import SavedView
from .settings import Cause, Queue, Tool
from .snapshot import snapshot
from .tallies import Folded, Spell, Tally
from .trail import Alteration, Reading
from .watching import Alert, AlertSent, Check

__all__ = [
    "Alert",
    "AlertSent",
    "Alteration",
    "Archive",
    "ArchivedJob",
    "Cause",
    "Check",
    "Claim",
    "Delivery",
    "Drill",
    "Folded",
    "Grant",
    "Job",
    "Operation",
    "OperationJob",
    "Proposal",
    "Queue",
    "Reading",
    "Receipt",
    "Refusal",
    "SavedView",
    "Spell",
    "Step",
    "Tally",
    "Tenant",
    "Token",
    "Tombstone",
    "Tool",
    "User",
    "snapshot",
]
