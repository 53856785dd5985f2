"""The demo's people on a database with real commits, and their sockets on a real server."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import pytest
from django.test import Client
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from runs.permissions import Action, issue_token
from tests.board.cast import BACKEND, Stage
from tests.support.databases import Database
from tests.support.server import Served

PATIENCE = 20.0  #: seconds; a busy machine is no failure


@dataclass
class Tab:
    """A page's socket. Messages are kept in the order in which they came."""

    socket: ClientConnection
    client: Client
    heard: list[dict[str, Any]] = field(default_factory=list)

    def show(self, *jobs: str) -> "Tab":
        """Say which jobs are on screen, and return once the server has answered with how each now is."""
        self.say({"jobs": list(jobs)})
        untold = set(jobs)  # in whichever order
        while untold:
            untold.discard(self.until(lambda message: message.get("job") in untold)["job"])
        return self

    def say(self, message: Any) -> None:
        self.socket.send(message if isinstance(message, str | bytes) else json.dumps(message))

    def until(self, right: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next message that is the right one; what comes before it is kept in `heard`. Signs of life
        don't prolong the wait."""
        end = monotonic() + PATIENCE
        while True:
            message = json.loads(self.socket.recv(timeout=max(0.0, end - monotonic())))
            self.heard.append(message)
            if right(message):
                return message

    def closed_with(self) -> int:
        """Waits until the server closes it, and says with which code."""
        with pytest.raises(ConnectionClosed) as closed:
            self.until(lambda message: False)
        assert closed.value.rcvd is not None
        return closed.value.rcvd.code


@pytest.fixture
def stage(real_db: Database) -> Stage:
    """Told by this process, which is another one than the server."""
    return Stage()


@pytest.fixture
def token(stage: Stage) -> str:
    """w1's."""
    allowed = [Action.VIEW, Action.EXECUTE, Action.SUBMIT]
    return issue_token(stage.actors["system"], stage.people["w1"], allowed, ["mail"])[1]


@pytest.fixture
def tab(stage: Stage, served: Served) -> Iterator[Callable[[str], Tab]]:
    """`tab("lena")` opens a page's socket, as lena."""
    with ExitStack() as open_tabs:

        def open_tab(name: str) -> Tab:
            client = Client()
            client.force_login(stage.people[name], BACKEND)
            cookie = f"sessionid={client.cookies['sessionid'].value}"
            socket = open_tabs.enter_context(
                connect(
                    f"{served.sockets}/ws/board/",
                    origin=Origin(served.url),
                    additional_headers={"Cookie": cookie},
                    open_timeout=PATIENCE,
                )
            )
            return Tab(socket, client)

        yield open_tab
