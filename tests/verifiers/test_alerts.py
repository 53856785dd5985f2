"""What stays unknown past its queue's limit is told once for each threshold, by each channel, whatever
happens in between."""

import json
import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from django.conf import LazySettings

from runs import settle
from runs.alerts import channels
from runs.models import Alert, AlertSent, Queue
from tests.board.cast import CONFIRMED, Stage

SECRET = "a-secret-of-more-than-32-characters"


@pytest.fixture
def stage(db: None, monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = Stage()
    monkeypatch.setattr("runs.ledger.clock", made.clock)
    Queue.objects.filter(name="mail").update(limit_seconds=600)
    return made


def later(stage: Stage, **span: float) -> None:
    stage.ago -= timedelta(**span)


class Hook(ThreadingHTTPServer):
    """Takes webhooks; answers with `status`."""

    def __init__(self) -> None:
        self.status, self.got = 200, list[tuple[dict[str, str], bytes]]()
        super().__init__(("127.0.0.1", 0), Take)


class Take(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((dict(self.headers), body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def hook(settings: LazySettings) -> Iterator[Hook]:
    with Hook() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        settings.CANCELBOARD_ALERT_WEBHOOK = f"http://127.0.0.1:{server.server_port}/alerts"
        settings.CANCELBOARD_ALERT_SECRET = SECRET
        settings.CANCELBOARD_URL = "https://board.example"
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    def alerts() -> list[str]:
        return [each.getMessage() for each in caplog.records if each.name == "cancelboard.alerts"]

    caplog.set_level(logging.WARNING, "cancelboard.alerts")
    return alerts


def alerts_of(hook: Hook) -> list[dict[str, Any]]:
    return [alert for _headers, body in hook.got for alert in json.loads(body)["alerts"]]


def test_it_is_told_once_for_each_threshold(stage: Stage, hook: Hook, told: Callable[[], list[str]]) -> None:
    stage.unknown("order-1")
    later(stage, minutes=9.9)
    settle.one_pass()
    assert told() == []
    for minutes, count in ((0.2, 1), (60, 1), (10.1, 2), (150, 2), (11, 3), (6000, 3)):
        later(stage, minutes=minutes)
        settle.one_pass()
        settle.one_pass()
        assert len(told()) == count, f"after {minutes} minutes more"
    assert [alert["times"] for alert in alerts_of(hook)] == [1, 8, 24]


def test_of_thresholds_passed_unnoticed_only_the_last_is_told(
    stage: Stage, told: Callable[[], list[str]]
) -> None:
    stage.unknown("order-1")
    later(stage, hours=2)
    settle.one_pass()
    assert ["8 times" in each for each in told()] == [True]
    assert Alert.objects.count() == 2
    later(stage, minutes=1)
    settle.one_pass()
    assert len(told()) == 1


def test_what_is_out_or_settled_is_not_alerted(stage: Stage, told: Callable[[], list[str]]) -> None:
    stage.begin("order-1")
    stage.unknown("order-2")
    later(stage, minutes=11)
    stage("system", "order-1", "heartbeat")
    stage("lena", "order-2", "reconcile", ordinal=0, outcome="ok", evidence=CONFIRMED)
    settle.one_pass()
    assert told() == []


def test_the_webhook_is_signed_and_names_what_to_look_up(stage: Stage, hook: Hook) -> None:
    stage.unknown("order-1")
    later(stage, minutes=11)
    settle.one_pass()
    ((headers, body),) = hook.got
    at = int(headers["X-Cancelboard-Signature"].split(",")[0].removeprefix("t="))
    assert headers["X-Cancelboard-Signature"] == channels.signature(body, at)
    (alert,) = alerts_of(hook)
    assert alert["id"] == "acme/order-1/0/1"
    assert alert["url"] == "https://board.example/jobs/order-1/"
    assert alert["idempotency_key"].startswith("cb-")
    assert alert["cancel_requested"] is True
    assert SECRET not in body.decode()


def test_the_signature_is_what_its_takers_compute() -> None:
    """Laid down by hand: whoever checks it has only the documentation."""
    import hashlib
    import hmac

    from django.test import override_settings

    with override_settings(CANCELBOARD_ALERT_SECRET=SECRET):
        mac = hmac.new(SECRET.encode(), b"1700000000.{}", hashlib.sha256).hexdigest()
        assert channels.signature(b"{}", 1700000000) == f"t=1700000000,v1={mac}"


@pytest.mark.parametrize("status", [500, 302, 403])
def test_a_webhook_that_fails_is_tried_again_with_back_off_and_the_log_is_not(
    stage: Stage, hook: Hook, told: Callable[[], list[str]], status: int
) -> None:
    stage.unknown("order-1")
    later(stage, minutes=11)
    hook.status = status
    settle.one_pass()
    settle.one_pass()
    assert len(hook.got) == 1, "not again at once"
    row = AlertSent.objects.get(channel="webhook")
    assert (row.state, row.tries) == ("waiting", 1)
    assert str(status) in row.trouble
    hook.status = 204
    later(stage, minutes=2)
    settle.one_pass()
    assert [alert["id"] for alert in alerts_of(hook)] == ["acme/order-1/0/1"] * 2, "by the same id"
    assert AlertSent.objects.get(channel="webhook").state == "sent"
    assert len(told()) == 1


def test_one_that_waits_is_needless_once_the_step_is_settled(stage: Stage, hook: Hook) -> None:
    stage.unknown("order-1")
    later(stage, minutes=11)
    hook.status = 500
    settle.one_pass()
    stage("lena", "order-1", "reconcile", ordinal=0, outcome="ok", evidence=CONFIRMED)
    later(stage, minutes=2)
    settle.one_pass()
    assert len(hook.got) == 1
    assert AlertSent.objects.get(channel="webhook").state == "needless"


def test_it_is_given_up_at_last_and_that_is_said(
    stage: Stage, hook: Hook, caplog: pytest.LogCaptureFixture
) -> None:
    stage.unknown("order-1")
    later(stage, minutes=11)
    hook.status = 500
    settle.one_pass()
    AlertSent.objects.filter(channel="webhook").update(tries=23)
    later(stage, hours=2)
    settle.one_pass()
    assert AlertSent.objects.get(channel="webhook", alert__times=1).state == "given up"
    assert "given up" in caplog.text


def test_many_at_once_are_one_message(stage: Stage, hook: Hook) -> None:
    for n in range(3):
        stage.unknown(f"order-{n}")
    later(stage, minutes=11)
    settle.one_pass()
    assert len(hook.got) == 1
    assert len(alerts_of(hook)) == 3


def test_e_mail_goes_to_a_real_server(stage: Stage, settings: LazySettings) -> None:
    class Box:
        def __init__(self) -> None:
            self.got: list[tuple[list[str], bytes]] = []

        async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
            self.got.append((envelope.rcpt_tos, envelope.original_content))
            return "250 taken"

    box = Box()
    controller = Controller(box, hostname="127.0.0.1", port=_free_port())
    controller.start()
    try:
        settings.CANCELBOARD_ALERT_EMAIL = ["duty@house.example", "lead@house.example"]
        settings.CANCELBOARD_ALERT_FROM = "board@house.example"
        settings.CANCELBOARD_SMTP = {"host": "127.0.0.1", "port": controller.port}
        stage.unknown("order-1")
        later(stage, minutes=11)
        settle.one_pass()
    finally:
        controller.stop()
    ((to, content),) = box.got
    assert to == ["duty@house.example", "lead@house.example"]
    message = message_from_bytes(content)
    assert message["From"] == "board@house.example"
    assert "order-1" in message.get_payload()
    assert AlertSent.objects.get(channel="email").state == "sent"


def _free_port() -> int:
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
