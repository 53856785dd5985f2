"""A worker's socket on the real server (PROTOCOL section 7): the signal as soon as it is committed, to the
holder of the claim and nobody else. What it says is what the next heartbeat would be answered.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from socket import SHUT_RDWR
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from runs import settle
from runs.models import Grant, Receipt, Token
from tests.board.cast import Stage
from tests.support.server import Served

from .conftest import PATIENCE


class Ear:
    """What a worker process would hear."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    def watch(self, **claims: str) -> "Ear":
        watched = [{"job_id": job.replace("_", "-"), "claim": claim} for job, claim in claims.items()]
        self.socket.send(json.dumps({"type": "watch", "claims": watched}))
        return self

    def next(self) -> Any:
        return json.loads(self.socket.recv(timeout=PATIENCE))

    def closed_with(self) -> int:
        with pytest.raises(ConnectionClosed) as closed:
            self.next()
        assert closed.value.rcvd is not None
        return closed.value.rcvd.code


Listen = Callable[..., Ear]


@pytest.fixture
def listen(served: Served, token: str) -> Iterator[Listen]:
    """`listen()` opens a socket with w1's token, or with another header."""
    with ExitStack() as open_sockets:

        def open_socket(authorization: str = f"Bearer {token}") -> Ear:
            headers = {"Authorization": authorization} if authorization else {}
            socket = connect(
                f"{served.sockets}/ws/worker/", additional_headers=headers, open_timeout=PATIENCE
            )
            return Ear(open_sockets.enter_context(socket))

        yield open_socket


def heartbeat(stage: Stage, job: str) -> Any:
    return stage("system", job, "heartbeat").fields["signal"]


def test_what_is_accepted_is_told_and_it_is_what_a_heartbeat_would_be_answered(
    stage: Stage, listen: Listen
) -> None:
    stage.begin("order-1")
    ear = listen().watch(order_1=stage.tokens["order-1"])
    stage("omar", "order-1", "pause", cause="paused_by_user")
    told = ear.next()
    assert told == {"type": "signal", "job_id": "order-1", "signal": heartbeat(stage, "order-1")}
    assert (told["signal"]["level"], told["signal"]["cause"]["code"]) == ("pause", "paused_by_user")
    stage("omar", "order-1", "resume")
    assert ear.next() == {"type": "signal", "job_id": "order-1", "signal": None}
    stage.cancel("order-1", grace_seconds=0)
    stop = ear.next()["signal"]
    assert (stop["level"], stop["cause"]["code"]) == ("stop", "user_requested")
    settle.one_pass()
    abort = ear.next()["signal"]
    assert (abort["level"], abort["cause"]["code"]) == ("abort", "settle_drain_timeout")
    assert abort["original_cause"] == stop["cause"]
    assert abort == heartbeat(stage, "order-1")


def test_what_was_accepted_before_it_connected_is_told_on_connect(stage: Stage, listen: Listen) -> None:
    stage.begin("order-1")
    stage.cancel("order-1")
    assert listen().watch(order_1=stage.tokens["order-1"]).next()["signal"]["level"] == "stop"


def test_a_claim_that_was_taken_away_is_told_with_its_cause(stage: Stage, listen: Listen) -> None:
    stage.begin("order-1")
    ear = listen().watch(order_1=stage.tokens["order-1"])
    stage("lena", "order-1", "revoke", cause="killed_by_planner")
    lost = ear.next()
    assert (lost["type"], lost["job_id"], lost["cause"]["code"]) == (
        "claim_lost",
        "order-1",
        "killed_by_planner",
    )


def test_nothing_is_told_without_the_claim_or_the_right(stage: Stage, listen: Listen) -> None:
    """Another's token, one that was never issued, a queue that the account may not see, no job at all."""
    for job in ("order-1", "order-2", "last"):
        stage.begin(job)
    stage.begin("ledger-1", queue="ledger")
    for job in ("order-1", "order-2", "ledger-1"):
        stage.cancel(job, "system")
    ear = listen().watch(
        order_1=stage.tokens["order-2"],
        order_2="1-" + "0" * 32,
        ledger_1=stage.tokens["ledger-1"],
        nothing="1-" + "0" * 32,
        last=stage.tokens["last"],
    )
    stage.cancel("last")
    assert ear.next()["job_id"] == "last"


def test_a_new_list_replaces_the_former(stage: Stage, listen: Listen) -> None:
    for job in ("order-1", "order-2"):
        stage.begin(job)
    ear = listen().watch(order_1=stage.tokens["order-1"]).watch(order_2=stage.tokens["order-2"])
    stage("omar", "order-2", "pause")
    assert ear.next()["job_id"] == "order-2", "the server has the new list"
    stage.cancel("order-1")
    stage.cancel("order-2")
    assert ear.next()["job_id"] == "order-2"


def test_a_right_that_ends_is_told_nothing_more(stage: Stage, listen: Listen) -> None:
    for job in ("order-1", "order-2"):
        stage.begin(job)
    ear = listen().watch(order_1=stage.tokens["order-1"], order_2=stage.tokens["order-2"])
    held = Grant.objects.get(user=stage.people["w1"], action="execute")
    Grant.objects.create(
        tenant=stage.tenant,
        user=stage.people["w1"],
        action="execute",
        effect="deny",
        scope="job",
        job="order-1",
        not_before=held.not_before,
    )
    stage.cancel("order-1")
    stage.cancel("order-2")
    assert ear.next()["job_id"] == "order-2"


@pytest.mark.parametrize("header", ["", "Bearer cb_abcdefgh_wrong", "Basic dzE6dzE="])
def test_without_a_live_token_there_is_no_socket(listen: Listen, header: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        listen(header)
    assert refused.value.response.status_code == 403


def test_it_ends_when_its_token_does(stage: Stage, listen: Listen, token: str) -> None:
    """At the latest when something is to be told."""
    stage.begin("order-1")
    ear = listen().watch(order_1=stage.tokens["order-1"])
    Token.objects.filter(prefix=token.split("_")[1]).update(revoked_at=stage.clock())
    stage.cancel("order-1")
    assert ear.closed_with() == 4403


GARBAGE: tuple[str | bytes, ...] = (
    "not json",
    b"\0",
    "[]",
    "null",
    '{"type": "watch"}',
    '{"type": "watch", "claims": 3}',
    '{"type": "watch", "claims": [{"job_id": 1, "claim": "c"}]}',
    '{"type": "watch", "claims": [{"job_id": "\\u0000", "claim": "c"}]}',
    '{"type": "watch", "claims": ' + "[" * 20_000,
)


def test_what_is_no_such_message_ends_it(listen: Listen) -> None:
    long = [{"job_id": f"j{n}", "claim": "c"} for n in range(1001)]
    for garbage in (*GARBAGE, json.dumps({"type": "watch", "claims": long})):
        ear = listen()
        ear.socket.send(garbage)
        assert ear.closed_with() == 1013, garbage[:30]


def test_a_socket_that_ends_cancels_nothing(stage: Stage, listen: Listen) -> None:
    """The first sentence of the protocol: closed, and torn."""
    stage.begin("order-1")
    receipts = Receipt.objects.count()
    listen().watch(order_1=stage.tokens["order-1"]).socket.close()
    listen().watch(order_1=stage.tokens["order-1"]).socket.socket.shutdown(SHUT_RDWR)
    again = listen().watch(order_1=stage.tokens["order-1"])
    stage("omar", "order-1", "pause", cause="paused_by_user")
    assert again.next()["signal"]["level"] == "pause", "and the server serves on"
    row = stage.row("order-1")
    assert (row.control, row.cur, row.fence, Receipt.objects.count()) == ("run", "inflight", 1, receipts + 1)
