"""A server that is told to stop answers what is in flight, ends what never ends, and is gone within 10 s."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.support.server import Served

pytestmark = pytest.mark.timeout(60)


def wait_for(file: Path, patience: float = 10) -> None:
    """Until another process has made the file."""
    end = time.monotonic() + patience
    while not file.exists():
        assert time.monotonic() < end, f"{file.name} did not come"
        threading.Event().wait(0.01)


def keep_asking(url: str) -> None:
    for _ in range(10_000):
        httpx.get(url, timeout=5)


def test_a_request_in_flight_is_answered_after_sigterm(serve: Callable[..., Served], tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    server = serve("tests.support.slow:application", TEST_GATE=str(gate))
    answers: list[httpx.Response] = []
    thread = threading.Thread(target=lambda: answers.append(httpx.get(f"{server.url}/slow/", timeout=30)))
    thread.start()
    wait_for(gate.with_suffix(".begun"))

    server.terminate()
    with pytest.raises(httpx.ConnectError):
        keep_asking(f"{server.url}/admin/login/")  # until it listens no more
    gate.touch()
    thread.join(10)

    assert [(answer.status_code, len(answer.content)) for answer in answers] == [(200, 800_000)]
    # Else a client that keeps its connection, and asks again at once, would never let the server be idle.
    assert answers[0].headers["Connection"] == "close"
    assert server.stop(patience=5) == 0


def test_sockets_are_told_to_come_back_and_streams_end(serve: Callable[..., Served], tmp_path: Path) -> None:
    server = serve("tests.support.slow:application", TEST_GATE=str(tmp_path / "gate"))
    with connect(f"{server.sockets}/any/") as socket, httpx.stream("GET", f"{server.url}/stream/") as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": here"
        server.terminate()
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=10)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012
        assert list(lines) == [""]  # ended, not cut: httpx would raise
    assert server.stop(patience=5) == 0


def test_an_idle_server_stops_at_once(served: Served) -> None:
    httpx.get(f"{served.url}/admin/login/")
    begun = time.monotonic()
    assert served.stop(patience=8) == 0
    assert time.monotonic() - begun < 5
