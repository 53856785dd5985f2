"""A process of its own for one request, from its headers to its answer, that can die at any boundary.

Forked from a process that has Django loaded and no connection open: none of them knows of another.
"""

import json
import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from typing import Any

from tests.model.over_http import ALONE

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.crash.warm"])
PATIENCE = 60.0
PATHS = ALONE | {"operate": "/operations", "abort": "/operations/{job_id}/abort"}
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)  #: when the backup was made that was restored


@dataclass(frozen=True)
class Request:
    """A command over HTTP (of `abort`, `job_id` names the operation); or what nobody asks for by HTTP:
    `settle`, a pass of the loop, and `restored`."""

    command: str
    job_id: str | None
    body: dict[str, Any]
    headers: dict[str, str]

    def send(self) -> Any:
        """The answer: HTTP code and JSON; without HTTP, how many jobs gave which answer."""
        from django.test import Client

        from runs import settle
        from runs.commands.restored import restored

        if self.command == "settle":
            return dict(settle.one_pass())
        if self.command == "restored":
            return dict(restored(LONG_AGO))
        path = PATHS.get(self.command, f"/jobs/{{job_id}}/{self.command}").format(job_id=self.job_id)
        answer = Client(SERVER_NAME="localhost").generic(
            "POST", f"/api/v1{path}", json.dumps(self.body), "application/json", headers=self.headers
        )
        return answer.status_code, answer.json()


def _live(url: str, request: Request, mother: Connection) -> None:
    """Tells each boundary and goes on when told to; then tells the answer."""
    from django.db import connection

    from tests.support.databases import point_django_at

    from .boundaries import watched

    def reached(boundary: str) -> None:
        mother.send(boundary)
        if mother.recv() == "die":
            os.kill(os.getpid(), signal.SIGKILL)

    point_django_at(url)
    with watched(reached):
        answer = request.send()
    mother.send(answer)
    connection.close()
    if connection.vendor == "postgresql":
        connection.close_pool()


@contextmanager
def _process(url: str, request: Request) -> Any:
    ours, its = FORKS.Pipe()
    process = FORKS.Process(target=_live, args=(url, request, its))
    process.start()
    its.close()
    try:
        yield process, ours
    finally:
        process.kill()
        process.join()
        process.close()
        ours.close()


def lives(url: str, request: Request, at: Callable[[str], None] = lambda _: None) -> Any:
    """Its answer; calls `at` while it stands at each boundary."""
    with _process(url, request) as (process, pipe):
        while isinstance(word := _hear(pipe), str):
            at(word)
            pipe.send("go on")
        process.join(PATIENCE)
        assert process.exitcode == 0
        return word


def dies(url: str, request: Request, number: int) -> str:
    """Gives the boundary (0 is the first) at which it died, without an answer."""
    with _process(url, request) as (process, pipe):
        for _ in range(number):
            assert isinstance(_hear(pipe), str)
            pipe.send("go on")
        boundary = _hear(pipe)
        pipe.send("die")
        process.join(PATIENCE)
        assert process.exitcode == -signal.SIGKILL
        assert isinstance(boundary, str)
        return boundary


def _hear(pipe: Connection) -> Any:
    assert pipe.poll(PATIENCE), "it says nothing"
    return pipe.recv()
