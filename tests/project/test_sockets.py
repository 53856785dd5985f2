"""Which pages may open a socket: full origins decide, before anybody looks at the cookie."""

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.support.server import Served


def refused_with(served: Served, path: str, origin: str | None) -> int:
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(served.sockets + path, origin=origin and Origin(origin)),
    ):
        pass
    return refused.value.response.status_code


def test_only_our_own_pages_may_open_a_socket(served: Served) -> None:
    port = served.url.rsplit(":", 1)[1]
    for foreign in (
        None,
        "null",
        "https://evil.test",
        "http://127.0.0.1",  # the same host, another port
        f"https://127.0.0.1:{port}",  # the same host and port, another scheme
        f"http://localhost:{port}",  # another name of ours, but not this page's
    ):
        assert refused_with(served, "/ws/board/", foreign) == 403, foreign

    ours = connect(f"{served.sockets}/ws/board/", origin=Origin(served.url))
    with ours as socket, pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=10)  # let in by its origin, but nobody is signed in
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4403


def test_a_socket_that_does_not_exist_is_refused(served: Served) -> None:
    assert refused_with(served, "/ws/nothing/", served.url) == 403


def test_a_host_name_that_is_not_ours_vouches_for_nobody(served: Served) -> None:
    elsewhere = served.url.replace("127.0.0.1", "evil.test")
    here = ("127.0.0.1", int(served.url.rsplit(":", 1)[1]))
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws{elsewhere[4:]}/ws/board/", origin=Origin(elsewhere), address=here, proxy=None)
    assert refused.value.response.status_code == 403
