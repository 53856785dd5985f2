"""A line of a script: a command whose claims and proposals are named by their turn, not by a token or an id.

So one script can be played on a model and over HTTP alike; and the queues that every script leans on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .state import Answer, Queue
from .world import World

QUEUES = {
    "mail": Queue(),
    "ledger": Queue(reconcile_needs="2"),
    "shop": Queue(reconcile_needs="2 for did-not-happen"),
    "vip": Queue(id_prefix="vip-"),
}
#: Kinds that are no commands: time passes, the settle loop makes one pass.
CLOCK = ("wait", "settle")


@dataclass(frozen=True)
class ClaimOf:
    """The token of the nth claim (from 0) issued for a job."""

    job_id: str
    nth: int


@dataclass(frozen=True)
class Forged:
    """A well-formed token that was never issued; `fence` is the number it boasts."""

    fence: int


@dataclass(frozen=True)
class ProposalOf:
    """The nth proposal (from 0) made for a job."""

    job_id: str
    nth: int


@dataclass(frozen=True)
class Command:
    """`fields` as in HTTP.md's body, claims and proposals by name; `who` asks, by account."""

    kind: str
    job_id: str | None
    who: str
    fields: dict[str, Any] = field(default_factory=dict)


def for_model(command: Command, world: World) -> dict[str, Any]:
    """The fields as the model wants them: fences and numbers for the names; 0 for what is not this job's."""
    fields = dict(command.fields)
    job = world.jobs.get(command.job_id or "")
    for key, name in command.fields.items():
        own = job if isinstance(name, ClaimOf | ProposalOf) and name.job_id == command.job_id else None
        if isinstance(name, ClaimOf):
            fields[key] = own.issued[name.nth][0] if own and name.nth < len(own.issued) else 0
        elif isinstance(name, ProposalOf):
            fields[key] = name.nth + 1 if own else 0
        elif isinstance(name, Forged):
            fields[key] = 0
    return fields | ({"job_id": command.job_id} if command.job_id else {})


def play(command: Command, world: World) -> Answer | None:
    """Do it on a model, with all that follows from it: an Answer, or None for the clock's moves."""
    answer = play_alone(command, world)
    world.checkpoint_ancestors()
    return answer


def play_alone(command: Command, world: World) -> Answer | None:
    """Likewise, without the later transactions that checkpoint its ancestors."""
    if command.kind == "wait":
        world.now += command.fields["seconds"]
        return None
    if command.kind == "settle":
        world.settle()
        return None
    return world.command(command.kind, who=command.who, **for_model(command, world))
