"""Plans: what a worker does, as generators that ask for effects and are told how these went.

A plan never blocks and knows no thread or event loop, so one text serves both drivers: `drive` performs the
effects by blocking, `adrive` awaits them. Not the rules of a run (run.py).
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

from runs.worker.cancel import CancelToken
from runs.worker.errors import NoAnswer, Unreachable
from runs.worker.wire import Answer, Effect, Send

T = TypeVar("T")
Plan: TypeAlias = Generator[Effect, Any, T]

log = logging.getLogger("runs.worker")


@dataclass(frozen=True, slots=True)
class Nap(Effect):
    """Wait this long, or until the token is cancelled."""

    seconds: float
    until: CancelToken | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """How long to wait between tries, in seconds: `first`, doubled up to `longest`, less a random part.

    `give_up`: raise Unreachable after so long without an answer; None: never.
    """

    first: float = 0.2
    longest: float = 5.0
    give_up: float | None = None

    def pause(self, tries: int) -> float:
        return min(self.longest, self.first * 2.0 ** min(tries, 16)) * random.uniform(0.5, 1.0)  # noqa: S311 (no secret)


def persist(ask: Send, retry: Retry, lost: list[Send] | None = None) -> Plan[Answer]:
    """Send until an answer comes, always the very same words: the protocol's replays make that safe.

    Every call may be repeated so: by identity (submit), event id (cancel, report, release), attempt (reserve,
    dispatch), or because a repetition changes nothing (reads, heartbeat). A claim repeated after its answer
    was lost meets its own lease, `claim_held`, and waits for that to end (run.py).

    Every try that got no answer is added to `lost`: it may still be on its way.
    """
    began = time.monotonic()
    tries = 0
    while True:
        try:
            answer: Answer = yield ask
        except NoAnswer as fault:
            if lost is not None:
                lost.append(ask)
            pause = retry.pause(tries) if fault.retry_after is None else fault.retry_after
            if retry.give_up is not None and time.monotonic() - began + pause > retry.give_up:
                raise Unreachable(ask, f"{ask.method} {ask.path}: {fault}") from fault
            log.log(logging.INFO if tries else logging.WARNING, "%s: %s; trying again", ask.path, fault)
            tries += 1
            yield Nap(pause)
        else:
            return answer


def drive(plan: Plan[T], perform: Callable[[Effect], object]) -> T:
    """Run a plan to its end. An effect that raises, raises inside the plan, where it was asked for."""
    go_on: Callable[[], Effect] = partial(next, plan)
    while True:
        try:
            effect = go_on()
        except StopIteration as end:
            result: T = end.value
            return result
        try:
            told = perform(effect)
        except Exception as error:
            go_on = partial(plan.throw, error)
        else:
            go_on = partial(plan.send, told)


async def adrive(plan: Plan[T], perform: Callable[[Effect], Awaitable[object]]) -> T:
    """The same, awaiting each effect."""
    go_on: Callable[[], Effect] = partial(next, plan)
    while True:
        try:
            effect = go_on()
        except StopIteration as end:
            result: T = end.value
            return result
        try:
            told = await perform(effect)
        except Exception as error:
            go_on = partial(plan.throw, error)
        else:
            go_on = partial(plan.send, told)
