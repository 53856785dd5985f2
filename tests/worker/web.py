"""Plain HTTP servers for these tests: the fake's door, and the line between a worker and its server.

The line carries whole requests, and breaks as it is told: that is how one set of tests serves every server.
"""

import http.client
import json
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from .fake import Fake
from .state import problem


class Reply(NamedTuple):
    code: int
    headers: dict[str, str]
    content: bytes
    whole: bool = True  #: else the connection breaks in the middle of it


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    content: bytes

    @property
    def command(self) -> str:
        """`submit`, `job` (a read), or the command on a job."""
        parts = urlsplit(self.path).path.strip("/").split("/")[3:]
        return "submit" if not parts else "job" if len(parts) == 1 else parts[1]

    @property
    def job_id(self) -> str:
        parts = urlsplit(self.path).path.strip("/").split("/")[3:]
        return unquote(parts[0]) if parts else self.body["job_id"]

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.content or b"{}")
        return body


class Web:
    """Serves `answer(request)` on a port of its own; None closes the connection without a word."""

    def __init__(self, answer: Callable[[Request], Reply | None]) -> None:
        self._answer = answer
        self._port = 0
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self.up()
        self.url = f"http://127.0.0.1:{self._port}"

    def up(self) -> None:
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # one packet a reply: no waiting for delayed acknowledgements

            def setup(self) -> None:
                super().setup()
                with web._lock:
                    web._open.add(self.connection)

            def finish(self) -> None:
                with web._lock:
                    web._open.discard(self.connection)
                super().finish()

            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                reply = web._answer(
                    Request(
                        self.command,
                        self.path,
                        {name.title(): value for name, value in self.headers.items()},
                        content,
                    )
                )
                if reply is None:
                    self.close_connection = True
                    return
                self.send_response(reply.code)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.content)))
                self.end_headers()
                self.wfile.write(reply.content if reply.whole else reply.content[: len(reply.content) // 2])
                self.wfile.flush()
                self.close_connection = self.close_connection or not reply.whole

            do_GET = do_POST  # noqa: N815 (named by http.server)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                if not isinstance(sys.exception(), ConnectionError):  # those we cut ourselves
                    super().handle_error(request, client_address)

        self._server = Server(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def down(self) -> None:
        """Stop listening and cut every connection, as a restart does."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        with self._lock:
            for connection in self._open:
                connection.shutdown(socket.SHUT_RDWR)


def serve_fake(fake: Fake, token: str) -> Web:
    def answer(request: Request) -> Reply:
        if request.headers.get("Authorization") != f"Bearer {token}":
            code, body = problem(401, "unauthenticated")
        else:
            code, body = fake.ask(request.command, request.job_id, request.body)
        word = isinstance(body.get("status"), int)
        kind = "application/problem+json" if word else "application/json"
        return Reply(code, {"Content-Type": kind}, json.dumps(body).encode())

    return Web(answer)


class Fault(NamedTuple):
    """Whether the server gets the request, and what the worker gets instead of the answer."""

    reaches: bool
    instead: Reply | None


LOST_REQUEST = Fault(False, None)
LOST_ANSWER = Fault(True, None)
BUSY = Fault(False, Reply(503, {"Retry-After": "0"}, b""))
BAD_GATEWAY = Fault(True, Reply(502, {}, b"<h1>Bad gateway</h1>"))
CUT_SHORT = Fault(True, Reply(200, {"Content-Type": "application/json"}, b'{"status": "res'))
FAULTS = {
    "lost request": LOST_REQUEST,
    "lost answer": LOST_ANSWER,
    "busy": BUSY,
    "bad gateway": BAD_GATEWAY,
    "cut short": CUT_SHORT,
}


@dataclass
class Exchange:
    """What passed: the request, and what the server answered, whether or not that arrived."""

    request: Request
    status: str
    arrived: bool

    @property
    def command(self) -> str:
        return self.request.command

    @property
    def body(self) -> dict[str, Any]:
        return self.request.body


@dataclass
class _Break:
    fault: Fault | None
    then: Callable[[], object] | None


@dataclass
class Line:
    """Where the worker connects; `upstream` is the server. Every exchange is kept in `passed`."""

    upstream: str
    passed: list[Exchange] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._breaks: dict[str, list[_Break]] = {}
        self._news = threading.Condition()
        self._web = Web(self._carry)
        self.url = self._web.url
        self.down = self._web.down
        self.up = self._web.up

    def break_next(
        self, command: str, *faults: Fault | None, then: Callable[[], object] | None = None
    ) -> None:
        """The next requests of `command` meet these faults, one each (None: none). `then` runs once the
        server has had the request, before anything goes back.
        """
        with self._news:
            self._breaks.setdefault(command, []).extend(_Break(fault, then) for fault in faults)

    def seen(self, command: str) -> list[Exchange]:
        with self._news:
            return [one for one in self.passed if one.command == command]

    def wait_for(self, command: str, status: str, times: int = 1, timeout: float = 20) -> None:
        """Until the server has answered `command` so, `times` times. Raises AssertionError."""

        def came() -> bool:
            return sum(one.command == command and one.status == status for one in self.passed) >= times

        with self._news:
            assert self._news.wait_for(came, timeout), f"no {command} was answered {status}: {self.passed}"

    def deliver_late(self, command: str) -> None:
        """The first request of `command` was slow, not lost: the server has it now, nobody its answer."""
        self._ask(self.seen(command)[0].request)

    def _carry(self, request: Request) -> Reply | None:
        with self._news:
            waiting = self._breaks.get(request.command)
            broken = waiting.pop(0) if waiting else _Break(None, None)
        fault = broken.fault
        reply = self._ask(request) if fault is None or fault.reaches else None
        if broken.then is not None:
            broken.then()
        status = str(json.loads(reply.content).get("status", "")) if reply else ""
        with self._news:
            self.passed.append(Exchange(request, status, fault is None))
            self._news.notify_all()
        return reply if fault is None else fault.instead

    def _ask(self, request: Request) -> Reply:
        return passed_on(self.upstream, request)


def passed_on(upstream: str, request: Request) -> Reply:
    """What the server answers."""
    to = http.client.HTTPConnection(urlsplit(upstream).netloc, timeout=20)
    wanted = ("Authorization", "Content-Type")
    kept = {name: value for name, value in request.headers.items() if name in wanted}
    to.request(request.method, request.path, request.content or None, kept)
    got = to.getresponse()
    reply = Reply(got.status, {"Content-Type": got.getheader("Content-Type", "")}, got.read())
    to.close()
    return reply
