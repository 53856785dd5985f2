"""The door over HTTP asks by the paths and bodies of HTTP.md; an echo answers behind a transport of httpx."""

import json
import re
from typing import Any

import httpx
import pytest

from .commands import QUEUES
from .driver import run
from .echo import Echo
from .over_http import Http
from .world import World

pytestmark = pytest.mark.pure

TOKENS = {name: f"cb_{name:0>8}_secret" for name in ("w1", "w2", "p1", "p2")}
PATHS = {  # method, path (HTTP.md) -> what the echo calls it
    ("POST", r"/jobs"): "submit",
    ("POST", r"/seal"): "seal",
    ("POST", r"/jobs/(?P<job_id>[^/]+)/(?P<kind>[a-z_]+)"): None,
    ("GET", r"/jobs/(?P<job_id>[^/]+)"): "job",
    ("GET", r"/jobs/(?P<job_id>[^/]+)/receipts"): "receipts",
    ("GET", r"/receipts/(?P<event_id>[^/]+)"): "receipt",
}


class Behind:
    """A server's edge: turns requests into what a door is asked."""

    def __init__(self) -> None:
        self.echo = Echo()
        self.who = {f"Bearer {token}": name for name, token in TOKENS.items()}
        self.asked: set[str] = set()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        for (method, pattern), kind in PATHS.items():
            found = re.fullmatch("/api/v1" + pattern, request.url.path)
            if found and method == request.method:
                named = found.groupdict()
                http, told = self.answer(kind or named["kind"], named, request)
                return httpx.Response(http, json=told)
        return httpx.Response(405, json={"code": "no such path"})

    def answer(self, kind: str, named: dict[str, str], request: httpx.Request) -> tuple[int, Any]:
        self.asked.add(kind)
        body: dict[str, Any] = json.loads(request.content or "{}")
        if kind == "receipts":
            body = {"after": int(request.url.params["after"])}
        if kind == "receipt":
            body = {"event_id": named["event_id"]}
        job_id = named.get("job_id") or body.pop("job_id", None)
        return self.echo(kind, job_id, body, self.who[request.headers["authorization"]])


def test_a_script_goes_through_http() -> None:
    behind = Behind()
    with Http("http://board.test/", TOKENS, httpx.MockTransport(behind)) as door:
        for seed in range(6):
            run(door, World(QUEUES), seed=seed, run=f"h{seed}")
    assert {"submit", "claim", "reserve", "report", "reconcile", "job", "receipts", "receipt"} <= behind.asked
