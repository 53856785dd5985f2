"""One command with what its transaction adds: decided as runs/commands composes it, on pure values."""

from typing import Any

from runs.protocol.asks import Checkpoint, Lapse
from runs.protocol.decide import Decision, decide
from runs.protocol.states import Control, World
from runs.protocol.tables import TABLES

LAPSE, CHECKPOINT = Lapse(), Checkpoint()


def carried_out(world: World, ask: Any) -> list[tuple[Any, Decision]]:
    """Every decision of the transaction, in order, each with its ask; the last one's world is how things are.

    A reconcile first writes a lapse that is due (protocol.md, section 5); whatever leaves a requested job
    with nothing out confirms its stop (section 4, checkpoint).
    """
    made: list[tuple[Any, Decision]] = []
    if ask.kind == "reconcile" and world.job is not None:
        lapse = decide(TABLES["lapse"], world, LAPSE)
        if lapse.row.kept:
            made.append((LAPSE, lapse))
            world = lapse.after
    asked = decide(TABLES[ask.kind], world, ask)
    made.append((ask, asked))
    if asked.row.kept and asked.after.job is not None and asked.after.job.control is Control.REQUESTED:
        stop = decide(TABLES["checkpoint"], asked.after, CHECKPOINT)
        if stop.row.kept:
            made.append((CHECKPOINT, stop))
    return made
