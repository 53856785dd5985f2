"""A line to a server on which anything may happen to a request and to its answer: lost, late, twice, cut.

What is late comes after what its sender sent next, having given it up: that is how a network reorders.
"""

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Event, Thread
from time import sleep

from tests.worker.web import Reply, Request, Web, passed_on

FAIR = "on time"
#: What comes how often.
WEATHER = {
    FAIR: 9,
    "request lost": 1,
    "request late": 2,
    "request twice": 2,
    "answer lost": 2,
    "answer late": 1,
    "answer cut": 2,
    "bad gateway": 1,
}


class Storm:
    """Where the clients connect. `patience`: how long they wait, in seconds; what is late may take longer."""

    def __init__(self, upstream: str, patience: float) -> None:
        self.upstream, self.patience = upstream, patience
        self.counts: Counter[str] = Counter()
        self.calm = Event()
        self._under_way, self._change = 0, Condition()
        self._web = Web(self._carry)
        self.url, self.down = self._web.url, self._web.down

    def abate(self) -> None:
        """From now on all is on time; returns when the last late one has come."""
        self.calm.set()
        with self._change:
            assert self._change.wait_for(lambda: not self._under_way, 60)

    def _carry(self, request: Request) -> Reply | None:
        with self._passing():
            what = FAIR if self.calm.is_set() else random.choices([*WEATHER], [*WEATHER.values()])[0]
            self.counts[what] += 1
            return getattr(self, "_" + what.replace(" ", "_"))(request)  # type: ignore[no-any-return]

    @contextmanager
    def _passing(self) -> Iterator[None]:
        with self._change:
            self._under_way += 1
        try:
            yield
        finally:
            with self._change:
                self._under_way -= 1
                self._change.notify_all()

    def _later(self) -> None:
        sleep(random.uniform(0, 2 * self.patience))

    def _on_time(self, request: Request) -> Reply:
        return passed_on(self.upstream, request)

    def _request_lost(self, request: Request) -> None:
        return None

    def _request_late(self, request: Request) -> Reply:
        self._later()
        return self._on_time(request)

    def _request_twice(self, request: Request) -> Reply:
        def again() -> None:
            with self._passing():
                self._request_late(request)

        Thread(target=again, daemon=True).start()
        return self._on_time(request)

    def _answer_lost(self, request: Request) -> None:
        self._on_time(request)

    def _answer_late(self, request: Request) -> Reply:
        answer = self._on_time(request)
        self._later()
        return answer

    def _answer_cut(self, request: Request) -> Reply:
        return self._on_time(request)._replace(whole=False)

    def _bad_gateway(self, request: Request) -> Reply:
        self._on_time(request)
        return Reply(502, {}, b"<h1>Bad gateway</h1>")
