"""Two commands that meet: the first is stopped after one of its statements, and the second runs until it has
ended or waits for the first; then both go on. Real connections; no sleep stands for a barrier.

Where to stop is found, not listed: after each lock that the first one takes, its first write and its last.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

from django.db import connection

PATIENCE = 60.0
LOCKS = re.compile(r"BEGIN|SELECT pg_advisory|SELECT .* FOR UPDATE", re.DOTALL)
WRITES = re.compile(r"INSERT|UPDATE|DELETE")
WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@dataclass
class Side:
    """One command in a thread with a connection of its own. `stop_after`: how many statements it may execute
    before it waits for `go`; None: it never stops."""

    work: Callable[[], Any]
    stop_after: int | None = None
    statements: list[str] = field(default_factory=list)
    asked: Event = field(default_factory=Event)  #: it has sent its first statement
    stopped: Event = field(default_factory=Event)
    go: Event = field(default_factory=Event)
    ended: Event = field(default_factory=Event)
    result: Any = None
    error: BaseException | None = None

    def start(self) -> "Side":
        Thread(target=self._run, daemon=True).start()
        return self

    def _run(self) -> None:
        try:
            with connection.execute_wrapper(self._gate):
                self.result = self.work()
        except BaseException as error:  # told by `join`, in the test's own thread
            self.error = error
        finally:
            connection.close()
            self.stopped.set()
            self.ended.set()

    def _gate(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.asked.set()
        result = execute(sql, params, many, context)
        self.statements.append(sql)
        if len(self.statements) == self.stop_after:
            self.stopped.set()
            assert self.go.wait(PATIENCE), "nobody let it go on"
        return result

    def join(self) -> Any:
        assert self.ended.wait(PATIENCE), "it did not end"
        if self.error is not None:
            raise self.error
        return self.result

    @property
    def stops(self) -> Iterator[int]:
        """After which of its statements it is worth meeting another."""
        numbered = list(zip(count(1), self.statements, strict=False))
        writes = [number for number, sql in numbered if WRITES.match(sql)]
        locks = {number for number, sql in numbered if LOCKS.match(sql)}
        return iter(sorted(locks | {*writes[:1], *writes[-1:]}))


def meet(first: Callable[[], Any], second: Callable[[], Any], stop_after: int) -> tuple[Any, Any]:
    """Both results; the second began when the first had executed `stop_after` statements."""
    one = Side(first, stop_after).start()
    assert one.stopped.wait(PATIENCE)
    two = Side(second).start()
    wait_until(lambda: two.ended.is_set() or is_stuck(two.asked.is_set()))
    one.go.set()
    return one.join(), two.join()


def is_stuck(asked: bool) -> bool:
    """The second one waits for a lock. SQLite does not tell: there it is enough that it has asked for the one
    lock."""
    if connection.vendor == "sqlite":
        return asked
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return bool(cursor.fetchone()[0])


def wait_until(happened: Callable[[], bool]) -> None:
    end = monotonic() + PATIENCE
    while not happened():
        assert monotonic() < end, "it never happened"
        sleep(0.002)


def together(*works: Callable[[], Any]) -> list[Any]:
    """The results of all, started at once, as they come."""
    return [side.join() for side in [Side(work).start() for work in works]]
