"""Verifiers (docs/protocol.md, section 10): who asks a step's receiver, by its idempotency key, what became
of it.

    finding     the question, and the three things that can be found
    registry    the installation's own, by name
    lookup      the shipped one: an HTTP look-up, set up for each tool in the admin

A tool names its verifier. A verifier is a function of a question; it is called by the settle loop, in a
thread of its own, never inside a transaction. Not here: when it is asked (`runs.settle`), and what becomes of
a finding (`runs.commands.checks`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from runs.models import Tool

from .finding import Finding, Question
from .lookup import HTTP, asked_of, fault, receiver, words
from .registry import names, registered

__all__ = ["HTTP", "Finding", "Question", "Verifier", "choices", "fault", "names", "of", "words"]


@dataclass(frozen=True)
class Verifier:
    """`receiver`: who is asked, which bounds how many ask at once."""

    name: str
    receiver: str
    ask: Callable[[Question], Finding]


def of(tool: Tool) -> Verifier | None:
    """The tool's verifier; None where people look, or where this process knows none of that name."""
    if tool.verifier == HTTP:
        look_up = asked_of(tool)
        return Verifier(HTTP, receiver(tool.lookup_url), look_up) if look_up else None
    function = registered().get(tool.verifier)
    return Verifier(tool.verifier, tool.verifier, partial(function)) if function else None


def choices() -> list[str]:
    """What a tool may name."""
    return [HTTP, *names()]
