"""Sets of grants with a name, to be copied: changing one here changes nobody's rights."""

from collections.abc import Iterable
from dataclasses import replace

from .grants import Line
from .terms import Action, Scope

#: Lines of scope `queue` are filled in by `in_queue()`.
TEMPLATES: dict[str, tuple[Line, ...]] = {
    "support": (Line(Action.VIEW), Line(Action.RECONCILE, Scope.QUEUE)),
    "operator": (
        Line(Action.VIEW),
        *(Line(a, Scope.QUEUE) for a in (Action.CANCEL, Action.BLOCK, Action.PAUSE, Action.REVOKE)),
    ),
    "lead": tuple(
        Line(a) for a in (Action.VIEW, Action.CANCEL, Action.REVOKE, Action.RECONCILE, Action.APPROVE)
    ),
    "auditor": tuple(Line(a, allows=a in (Action.VIEW, Action.EXPORT)) for a in Action),
    "administrator": (Line(Action.MANAGE_GRANTS),),
    "worker": tuple(Line(a, Scope.QUEUE) for a in (Action.VIEW, Action.SUBMIT, Action.EXECUTE)),
}


def in_queue(queue: str, lines: Iterable[Line]) -> list[Line]:
    """`lines`, with this queue in those that are about one."""
    return [replace(line, queue=queue) if line.scope is Scope.QUEUE else line for line in lines]
