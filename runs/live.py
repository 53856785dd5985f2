"""Nudges: "look at this job again". Said after the commit, to whoever listens in this process; never what
is true.

Writers in other processes are found by the tailer (runs.consumers), so a nudge lost here costs freshness
only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from django.db import transaction


@dataclass(frozen=True)
class Nudge:
    """Job `job_id` (row `pk`) of tenant `tenant_id` changed; `seq` is its newest receipt. `beside`: it
    changed beside its ledger, a signal was offered or heard; only this process is told of that."""

    tenant_id: int
    pk: int
    job_id: str
    seq: int
    beside: bool = False


_listeners: list[Callable[[Nudge], None]] = []


def listen(listener: Callable[[Nudge], None]) -> Callable[[], None]:
    """Have `listener` called, in the writer's thread, after each commit of this process. Returns the way
    out."""
    _listeners.append(listener)
    return partial(_listeners.remove, listener)


def announce(nudge: Nudge) -> None:
    """Tell the listeners once the transaction around this call is committed; never, if it is not."""
    if _listeners:
        transaction.on_commit(partial(_tell, nudge), robust=True)


def _tell(nudge: Nudge) -> None:
    for listener in _listeners:
        listener(nudge)
