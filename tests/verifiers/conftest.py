"""A stage whose tool has a verifier, and a receiver that tells what it is told to tell."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from django.conf import LazySettings

from runs.models import Check, Tool
from runs.verifiers import Finding, Question, registry
from tests.board.cast import Stage

TOOL = "smtp/2"
STEP = {"label": "Send welcome mail", "tool": TOOL, "target": "ada@example.test"}


class Oracle:
    """The registered verifier `oracle`: what it is asked, and what it says next."""

    def __init__(self) -> None:
        self.asked: list[Question] = []
        self.says: Callable[[Question], Any] = lambda question: Finding.not_known(
            "not_found", "Nothing there."
        )

    def __call__(self, question: Question) -> Any:
        self.asked.append(question)
        return self.says(question)


ORACLE = Oracle()


def oracle(question: Question) -> Any:
    return ORACLE(question)


@pytest.fixture
def verifier(settings: LazySettings) -> Oracle:
    ORACLE.__init__()  # type: ignore[misc]
    settings.CANCELBOARD_VERIFIERS = {"oracle": "tests.verifiers.conftest:oracle"}
    registry._found.cache_clear()
    return ORACLE


@pytest.fixture
def stage(db: None, monkeypatch: pytest.MonkeyPatch, verifier: Oracle) -> Stage:
    made = Stage()
    monkeypatch.setattr("runs.ledger.clock", made.clock)
    Tool.objects.create(tenant=made.tenant, name=TOOL, label="Mail house", verifier="oracle")
    return made


def unknown(stage: Stage, job: str = "order-1", **given: Any) -> str:
    return stage.unknown(job, STEP, **given)


def due(stage: Stage) -> None:
    """As if so much time had gone by that every look-up is due."""
    stage.ago -= timedelta(hours=2)


def check() -> Check:
    return Check.objects.get()


class Receiver(ThreadingHTTPServer):
    """`tells`: path and headers in, status, headers and body out."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.tells: Callable[[str], tuple[int, dict[str, str], bytes]] = lambda path: (404, {}, b"")
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, *args: object) -> None:
        """Who asked has hung up."""

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_GET(self) -> None:
        self.server.seen.append((self.path, dict(self.headers)))
        status, headers, body = self.server.tells(self.path)
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
