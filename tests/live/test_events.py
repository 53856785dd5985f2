"""A job's receipts as server-sent events, on the real server: each once, in order, whoever commits; resumed
exactly; ended with the right; and a reader that leaves changes nothing.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest
from django.utils import timezone

from cancelboard import drain
from runs.consumers.events import Events
from runs.models import Grant, Reading, Receipt
from tests.board.cast import CONFIRMED, Stage
from tests.support.server import Served

from .conftest import PATIENCE, Tab


class Reader:
    """An open stream."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.lines = response.iter_lines()

    def event(self) -> dict[str, str]:
        """The next one that is no comment."""
        told: dict[str, str] = {}
        for line in self.lines:
            if not line and told:
                return told
            name, _, value = line.partition(":")
            if name:
                told[name] = value.strip()
        return {"event": "no more"}

    def seqs(self, count: int) -> list[int]:
        return [int(self.event()["id"]) for _ in range(count)]


Follow = Callable[..., Reader]


@pytest.fixture
def follow(served: Served, token: str) -> Iterator[Follow]:
    """`follow("order-1", after=2)`, as w1; `last` is the header Last-Event-ID."""
    with ExitStack() as streams:

        def open_stream(job: str, last: int | None = None, **query: int) -> Reader:
            headers = {"Authorization": f"Bearer {token}"}
            if last is not None:
                headers["Last-Event-ID"] = str(last)
            return Reader(streams.enter_context(asked(served, job, headers, query)))

        yield open_stream


@contextmanager
def asked(
    served: Served, job: str, headers: dict[str, str], query: dict[str, int] | None = None
) -> Iterator[httpx.Response]:
    url = f"{served.url}/api/v1/jobs/{job}/events"
    with httpx.stream("GET", url, params=query, headers=headers, timeout=PATIENCE) as response:
        yield response


def test_each_receipt_once_as_the_api_shows_it_and_what_is_new_at_once(stage: Stage, follow: Follow) -> None:
    stage.begin("order-1")
    stage.begin("order-2")
    reader = follow("order-1")
    assert reader.response.headers["Content-Type"] == "text/event-stream"
    assert "X-After" not in reader.response.headers
    assert reader.seqs(3) == [1, 2, 3]
    stage.cancel("order-2")
    answer = stage.cancel("order-1")
    told = reader.event()
    assert (told["id"], json.loads(told["data"])) == ("4", answer.receipt)
    stage.report("order-1", 0, "ok")
    assert reader.seqs(2) == [5, 6], "the confirmed stop is one of its own"


def test_it_resumes_exactly(stage: Stage, follow: Follow) -> None:
    stage.begin("order-1")
    first = follow("order-1")
    assert first.seqs(2) == [1, 2]
    first.response.close()
    stage.cancel("order-1")
    assert follow("order-1", last=2, after=0).seqs(2) == [3, 4]
    again = follow("order-1", after=3)
    assert again.seqs(1) == [4]
    stage.report("order-1", 0, "unknown")
    assert again.seqs(1) == [5]


def test_more_than_one_page_of_them(stage: Stage, follow: Follow) -> None:
    stage.submit("order-1")
    for _ in range(55):
        stage("omar", "order-1", "pause")
        stage("omar", "order-1", "resume")
    assert follow("order-1").seqs(111) == [*range(1, 112)]


def test_it_ends_when_the_right_does_and_says_why(stage: Stage, follow: Follow) -> None:
    stage.begin("order-1")
    reader = follow("order-1", after=3)
    Grant.objects.filter(user=stage.people["w1"], action="view").update(revoked_at=timezone.now())
    stage.cancel("order-1")
    assert reader.event() == {"event": "end", "data": '{"code": "not_found"}'}
    assert reader.event() == {"event": "no more"}


def test_a_session_may_follow_too(stage: Stage, served: Served, tab: Callable[[str], Tab]) -> None:
    stage.begin("order-1")
    client = tab("lena").client
    cookie = {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}
    with asked(served, "order-1", cookie) as response:
        reader = Reader(response)
        assert reader.seqs(3) == [1, 2, 3]
        client.logout()
        stage.cancel("order-1")
        assert reader.event() == {"event": "end", "data": '{"code": "unauthenticated"}'}


REFUSALS: dict[str, tuple[str, dict[str, str], int, str]] = {
    "nobody": ("order-1", {"Authorization": "Bearer cb_abcdefgh_wrong"}, 401, "unauthenticated"),
    "no such job": ("nothing", {}, 404, "not_found"),
    "an ill-formed id": ("%20", {}, 404, "not_found"),
    "no number": ("order-1", {"Last-Event-ID": "x"}, 422, "invalid"),
}


def test_a_refusal_is_a_problem_as_everywhere(stage: Stage, served: Served, token: str) -> None:
    stage.begin("order-1")
    for name, (job, headers, code, word) in REFUSALS.items():
        with asked(served, job, {"Authorization": f"Bearer {token}"} | headers) as response:
            told: Any = json.loads(response.read())
            assert (response.status_code, told["code"]) == (code, word), name
            assert response.headers["Content-Type"] == "application/problem+json"


def test_a_reader_that_leaves_changes_nothing(stage: Stage, follow: Follow) -> None:
    """The first sentence of the protocol."""
    stage.begin("order-1")
    reader = follow("order-1")
    assert reader.seqs(3) == [1, 2, 3]
    reader.response.close()
    second = follow("order-1", after=3)
    row = stage.row("order-1")
    assert (row.control, row.cur, row.seq, Receipt.objects.count()) == ("run", "inflight", 3, 3)
    stage.cancel("order-1")
    assert second.seqs(1) == [4], "and the next one is told, though the last had left"


def test_a_server_that_stops_ends_it(stage: Stage, served: Served, follow: Follow) -> None:
    """Ended, not cut: httpx would raise. Its reader comes back to the next server."""
    stage.begin("order-1")
    reader = follow("order-1")
    assert reader.seqs(3) == [1, 2, 3]
    served.terminate()
    assert reader.event() == {"event": "no more"}
    assert served.stop(patience=9) == 0
    assert stage.row("order-1").control == "run"


def test_who_reads_evidence_in_a_stream_is_kept_as_its_reader(stage: Stage, follow: Follow) -> None:
    stage.begin("order-1")
    assert follow("order-1").seqs(3) == [1, 2, 3]
    assert not Reading.objects.exists(), "there was no evidence in it"
    stage("sam", "order-1", "observe", ordinal=0, evidence=CONFIRMED)
    assert follow("order-1", last=3).seqs(1) == [4]
    assert list(Reading.objects.values_list("user__name", "job_ref")) == [("w1", "order-1")]


def test_a_reader_that_leaves_while_it_is_judged_leaves_no_stream_behind() -> None:
    """Django hears that it left; the server says so only once."""
    told = [{"type": "http.disconnect"}]

    async def receive() -> Any:
        return told.pop() if told else await asyncio.Event().wait()

    async def judges(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await receive()

    async def send(message: Any) -> None:
        raise AssertionError("nobody is there")

    asyncio.run(asyncio.wait_for(Events(judges)({"method": "GET"}, receive, send), 5))


def test_a_stream_that_begins_while_the_server_stops_is_ended_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drain.reactor, "callLater", lambda *given: None)
    sent: list[str] = []

    async def endless(scope: Any, receive: Any, send: Any) -> None:
        head = [(b"Content-Type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        while sent != ["http.response.start", "http.response.body"]:
            await asyncio.sleep(0)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    async def main() -> None:
        application = drain.Drain(endless)
        application.stopping = True
        await asyncio.wait_for(application({"type": "http"}, None, send), 5)

    asyncio.run(main())
