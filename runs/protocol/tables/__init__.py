"""One table for each command, its rows PROTOCOL section 4's in their order: lay the two side by side."""

from runs.protocol.decide import Table

from .callers import CANCEL, SEAL, SUBMIT
from .clock import CHECKPOINT, ESCALATE, EXPIRE, LAPSE, RESTORED
from .people import APPROVE, CLOSE_DISPUTE, DECLINE, OBSERVE, PAUSE, RECONCILE, RESUME, REVOKE
from .worker import CLAIM, DISPATCH, HEARTBEAT, RELEASE, REPORT, RESERVE

TABLES: dict[str, Table] = {
    "submit": SUBMIT,
    "cancel": CANCEL,
    "seal": SEAL,
    "claim": CLAIM,
    "heartbeat": HEARTBEAT,
    "reserve": RESERVE,
    "dispatch": DISPATCH,
    "report": REPORT,
    "release": RELEASE,
    "checkpoint": CHECKPOINT,
    "revoke": REVOKE,
    "pause": PAUSE,
    "resume": RESUME,
    "observe": OBSERVE,
    "reconcile": RECONCILE,
    "approve": APPROVE,
    "decline": DECLINE,
    "close_dispute": CLOSE_DISPUTE,
    "lapse": LAPSE,
    "escalate": ESCALATE,
    "expire": EXPIRE,
    "restored": RESTORED,
}

#: The HTTP code of each answer, by command and status: a replay repeats it.
CODES: dict[tuple[str, str], int] = {
    **{(kind, row.status): row.code for kind, table in TABLES.items() for row in table},
    # Operations decide nothing about a job: each of its cancels is decided by its own table.
    ("operate", "accepted"): 202,
    ("abort", "aborted"): 200,
    ("abort", "already_ended"): 200,
}
