"""The only writer of jobs, steps, claims, proposals and receipts. One command is one transaction.

    spine.py    the six lines that every command goes through, and what follows its commit
    locked.py   the locks, the clock and the facts a decision looks at; who may; the replay check
    below.py    all below a job, for a cancel that is passed on
    write.py    state and receipt together
    operations.py    many jobs asked the same, one by one
    delivery.py that a signal went out
    checks.py   what verifiers are asked, and what becomes of their findings
    rows.py     between the database's rows and the protocol's values: the one load() and the one save()

What is decided stands in runs.protocol, who may in runs.permissions. To add a command: docs/protocol.md,
protocol/asks.py, protocol/tables/, ACTIONS in locked.py, its path in runs/api.
"""

from .delivery import offered
from .spine import do
from .write import Answer

__all__ = ["Answer", "do", "offered"]
