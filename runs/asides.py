"""Calls that wait for somebody outside: each in a thread of its own, with a time after which nobody waits for
it any more, and never with the database. Whoever started them collects what they gave, in its own thread.
"""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any


class Late(Exception):
    """The call did not end in its time. Its thread may still wait: a thread can't be killed."""


@dataclass
class Aside:
    """`done` is given what the call returned, or the exception it ended with, and says what came of it."""

    place: str
    done: Callable[[Any], str]
    until: float
    thread: threading.Thread
    result: list[Any] = field(default_factory=list)


class Asides:
    """The calls of one process that are under way."""

    def __init__(self) -> None:
        self._waiting: list[Aside] = []
        self._given_up: list[Aside] = []

    def start(self, place: str, call: Callable[[], Any], done: Callable[[Any], str], seconds: float) -> None:
        """Begin `call`, which waits for `place`."""

        def run() -> None:
            try:
                aside.result.append(call())
            except BaseException as error:  # whatever it is, its collector says so
                aside.result.append(error)

        thread = threading.Thread(target=run, name=f"aside {place}", daemon=True)
        aside = Aside(place, done, time.monotonic() + seconds, thread)
        self._waiting.append(aside)
        thread.start()

    def collect(self) -> Iterator[Callable[[], str]]:
        """What there is to do about the calls that have ended, or were given up, since the last time."""
        self._given_up = [aside for aside in self._given_up if aside.thread.is_alive()]
        for aside in list(self._waiting):
            late = time.monotonic() > aside.until
            if aside.thread.is_alive() and not late:
                continue
            self._waiting.remove(aside)
            if aside.thread.is_alive():
                self._given_up.append(aside)
            yield _bound(aside, aside.result[0] if aside.result else Late(aside.place))

    def stuck(self, place: str) -> int:
        """Calls that were given up and still wait for it."""
        return sum(aside.place == place and aside.thread.is_alive() for aside in self._given_up)

    def __len__(self) -> int:
        return len(self._waiting)

    def wait(self) -> None:
        """Until one more has ended, or its time has."""
        if self._waiting:
            first = min(self._waiting, key=lambda aside: aside.until)
            first.thread.join(min(0.05, max(0.0, first.until - time.monotonic())))


def _bound(aside: Aside, result: Any) -> Callable[[], str]:
    return lambda: aside.done(result)
