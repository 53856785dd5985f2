"""The worker's tests: a server, a line to it that can break, workers on that line, and a receiver of effects.

`server` is the fake; whoever offers the same four things (`Server`) can be put in its place.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

import pytest

from runs.worker import Client, Happened, Retry, StepContext, Timing, Tool, Worker

from .fake import Fake
from .web import Line, serve_fake

QUICK = Retry(first=0.01, longest=0.05)
TIMING = Timing(heartbeat=0.05, ttl=60, poll=0.05)
#: No heartbeat comes while such a test lasts: what the worker knows, it knows from its commands.
QUIET = Timing(heartbeat=59, ttl=60, poll=0.05)
TOKEN = "cb_abcdefgh_secret"


class Server(Protocol):
    """`token` may submit, view, cancel, block and execute in queue mail."""

    url: str
    token: str

    def staff(self, command: str, job_id: str, **body: Any) -> str:
        """A person's command (revoke, pause, resume); returns its status."""

    def lapse(self, job_id: str) -> None:
        """The lease ends now, and a pass of the settle loop sees it."""


@dataclass
class FakeServer:
    url: str
    token: str
    fake: Fake

    def staff(self, command: str, job_id: str, **body: Any) -> str:
        return str(self.fake.ask(command, job_id, {"event_id": uuid4().hex, **body})[1]["status"])

    def lapse(self, job_id: str) -> None:
        self.fake.lapse(job_id)


@pytest.fixture
def server() -> Iterator[Server]:
    fake = Fake()
    web = serve_fake(fake, TOKEN)
    yield FakeServer(web.url, TOKEN, fake)
    web.down()


@pytest.fixture
def line(server: Server) -> Iterator[Line]:
    line = Line(server.url)
    yield line
    line.down()


@pytest.fixture
def caller(server: Server) -> Iterator[Client]:
    """Somebody with a line of their own."""
    with Client(server.url, server.token) as client:
        yield client


@dataclass
class Job:
    """A submitted job, as a caller sees it."""

    id: str
    spec: dict[str, Any]
    caller: Client

    def cancel(self, cause: str = "user_requested") -> str:
        return self.caller.cancel(self.id, spec=self.spec, cause=cause).status

    def now(self) -> Any:
        return self.caller.job(self.id)

    def states(self) -> list[tuple[str, str | None]]:
        return [(step["state"], step["value"]) for step in self.now()["steps"]]


Submit = Callable[..., Job]
MakeWorker = Callable[..., Worker]
Aside = Callable[[Callable[[], Any]], Callable[[], Any]]


@pytest.fixture
def submit(caller: Client) -> Submit:
    """`submit("marked", steps=3)`: a job of so many mails."""

    def submit(dispatch: str = "unmarked", steps: int = 2) -> Job:
        mails = [
            {"label": f"Mail {n}", "tool": "smtp/2", "target": f"{n}@example.test"} for n in range(steps)
        ]
        job = Job(f"order-{uuid4().hex}", {"queue": "mail", "dispatch": dispatch, "steps": mails}, caller)
        assert caller.submit(job.id, job.spec).status == "admitted"
        return job

    return submit


@dataclass
class Receiver:
    """Where effects arrive. It deduplicates nothing: what came twice is here twice."""

    keys: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)

    def take(self, step: StepContext) -> str:
        self.keys.append(step.idempotency_key)
        self.targets.append(step.target)
        return f"250 queued {step.ordinal}"

    def tool(self, step: StepContext) -> Happened:
        """The plain tool: asks for the permission to send where the job is marked, and sends."""
        step.dispatch()
        return Happened(self.take(step))

    @property
    def nothing_twice(self) -> bool:
        return len(self.keys) == len(set(self.keys))


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def worker(server: Server, line: Line) -> Iterator[MakeWorker]:
    """`worker(tool)`: one on the line that can break, quick enough for a test. It hears by its heartbeat:
    what the socket adds is told in tests/live."""
    clients: list[Client] = []

    def make(tool: Tool, timing: Timing = TIMING, retry: Retry = QUICK) -> Worker:
        clients.append(Client(line.url, server.token, timeout=10))
        tools = {"smtp/2": tool}
        return Worker(clients[-1], name="w1", tools=tools, timing=timing, retry=retry, socket=False)

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def aside() -> Iterator[Aside]:
    """Run something in another thread; what it gives back waits for its result, or raises what it raised."""
    threads: list[threading.Thread] = []

    def start(work: Callable[[], Any]) -> Callable[[], Any]:
        ended: list[Any] = []
        raised: list[BaseException] = []

        def run() -> None:
            try:
                ended.append(work())
            except BaseException as error:
                raised.append(error)

        thread = threading.Thread(target=run, daemon=True)
        threads.append(thread)
        thread.start()

        def result() -> Any:
            thread.join(30)
            assert not thread.is_alive(), "it did not come to an end"
            if raised:
                raise raised[0]
            return ended[0]

        return result

    yield start
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def beats(job: Job) -> bool:
    """Whether a heartbeat of this job is running in this process."""
    return any(thread.name == f"heartbeat {job.id}" for thread in threading.enumerate())
