"""Why something was stopped: a cause as the server names it (docs/protocol.md, section 8).

Not the catalogue of causes, which is the server's. Here are only those that a worker has to name by itself
when no answer named one, in the server's words, and the question asked of everything that stops: `cause_of`.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, overload


@dataclass(frozen=True, slots=True)
class Cause:
    """`code` is stable, `short` a few words, `text` a sentence for people."""

    code: str
    short: str
    text: str

    @classmethod
    def read(cls, raw: Mapping[str, str] | None, otherwise: Cause) -> Cause:
        """The cause object of an answer, or `otherwise` where the answer has none."""
        if not raw:
            return otherwise
        code = raw["code"]
        return cls(code, raw.get("short") or code, raw.get("text") or "")


WORK_CLAIM_LOST = Cause(
    "work_claim_lost",
    "Claim lost",
    "The worker no longer holds the claim of this job: its lease ended, or somebody else took over.",
)
WORK_FINISHED = Cause("work_finished", "Work finished", "The work has ended, and what it held is released.")
SHUTDOWN = Cause("shutdown", "Shutdown", "The program that does this work is shutting down.")
RUN_HARD_TIMEOUT = Cause(
    "run_hard_timeout", "Hard time limit", "The run reached the longest time that it is allowed."
)
DEADLINE_EXCEEDED = Cause(
    "deadline_exceeded", "Deadline passed", "A deadline passed that named no cause of its own."
)
CANCELED_NO_CAUSE = Cause("canceled_no_cause", "No cause given", "A cancel was accepted that named no cause.")


class Caused(Protocol):
    """A token, or how a run ended."""

    @property
    def cause(self) -> Cause | None: ...


@overload
def cause_of(what: BaseException) -> Cause: ...
@overload
def cause_of(what: Caused) -> Cause | None: ...
def cause_of(what: BaseException | Caused) -> Cause | None:
    """Why this stopped. None for a token that is not cancelled.

    Of an exception: the cause that it names, or one in its group, or what it was raised from or during
    (`Cancelled`, `task.cancel(cause)`). Where nothing there names one, the fallbacks of section 8: a deadline
    without a name, a cancel without a name, anything else by its first line.
    """
    if not isinstance(what, BaseException):
        return what.cause
    for error in _behind(what):
        for name in (getattr(error, "cause", None), *error.args):
            if isinstance(name, Cause):
                return name
    for error in _behind(what, contexts=False):
        # By name: those of httpx, requests and subprocess are no TimeoutError.
        if any("timeout" in kind.__name__.lower() for kind in type(error).__mro__):
            return DEADLINE_EXCEEDED
        if isinstance(error, (asyncio.CancelledError, concurrent.futures.CancelledError)):
            return CANCELED_NO_CAUSE
    return other(what)


def _behind(error: BaseException, contexts: bool = True) -> Iterator[BaseException]:
    """The error, those in its group, what it was raised from; with `contexts`, what was being handled too."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, BaseExceptionGroup):
            waiting.extend(one.exceptions)
        if one.__cause__ is not None:
            waiting.append(one.__cause__)
        elif contexts and one.__context__ is not None and not one.__suppress_context__:
            waiting.append(one.__context__)


def other(error: BaseException) -> Cause:
    """The last fallback of section 8: anything else, by its first line, at most 80 characters of it."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return Cause("other", lines[0][:80], str(error))
