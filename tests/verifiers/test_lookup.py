"""The HTTP look-up: which hosts it asks, what it sends them, and what their answers mean."""

import json
from threading import Event
from typing import Any

import pytest
from django.conf import LazySettings

from runs import settle, verifiers
from runs.models import Tool
from runs.verifiers import Finding, Question
from tests.board.cast import Stage

from .conftest import Receiver

QUESTION = Question("acme", "order-1", 0, "cb-" + "0" * 32, "bank/1", "ada@example.test")


def tool(receiver: Receiver, **given: Any) -> Tool:
    words = {"lookup_ok": "captured, settled", "lookup_rejected": "refused", "lookup_value": "data.0.id"}
    url = {"lookup_url": f"http://{receiver.place}/payments?key={{key}}"}
    return Tool(name="bank/1", verifier="http", **words | url | given)


@pytest.fixture
def allowed(receiver: Receiver, settings: LazySettings) -> Receiver:
    settings.CANCELBOARD_LOOKUP_HOSTS = [receiver.place]
    settings.CANCELBOARD_CHECK_SECONDS = 2
    return receiver


def ask(tool: Tool, question: Question = QUESTION) -> Finding:
    verifier = verifiers.of(tool)
    assert verifier is not None
    return verifier.ask(question)


def told(receiver: Receiver, answer: Any, status: int = 200) -> None:
    receiver.tells = lambda path: (status, {}, json.dumps(answer).encode())


def test_it_asks_by_the_key_and_keeps_the_receivers_own_number(allowed: Receiver) -> None:
    told(allowed, {"status": "captured", "data": [{"id": "pay-7"}]})
    found = ask(tool(allowed))
    assert (found.outcome, found.kind, found.value) == ("ok", "receiver_confirmed", "pay-7")
    assert allowed.seen[0][0] == f"/payments?key={QUESTION.key}"


def test_a_word_that_says_refused_is_did_not_happen(allowed: Receiver) -> None:
    told(allowed, {"data": [{"state": "refused"}]})
    found = ask(tool(allowed, lookup_field="data.0.state"))
    assert (found.outcome, found.kind) == ("rejected", "receiver_refused")


@pytest.mark.parametrize(
    ("status", "answer", "kind"),
    [
        (404, {"status": "refused"}, "not_found"),
        (410, {"status": "refused"}, "not_found"),
        (200, {"status": "pending"}, "ambiguous"),
        (200, {"status": ""}, "ambiguous"),
        (200, {"status": None}, "ambiguous"),
        (200, {"status": ["captured"]}, "ambiguous"),
        (200, {}, "ambiguous"),
        (200, [], "ambiguous"),
        (500, {"status": "captured"}, "ambiguous"),
        (403, {"status": "refused"}, "ambiguous"),
    ],
)
def test_whatever_else_it_answers_settles_nothing(
    allowed: Receiver, status: int, answer: Any, kind: str
) -> None:
    told(allowed, answer, status)
    found = ask(tool(allowed))
    assert (found.outcome, found.kind) == ("", kind)


@pytest.mark.parametrize("body", [b"<html>", b"\xff", b"[" * 60_000, b'"' + b"a" * 100_000 + b'"'])
def test_an_answer_that_is_no_json_or_too_long_settles_nothing(allowed: Receiver, body: bytes) -> None:
    allowed.tells = lambda path: (200, {}, body)
    assert ask(tool(allowed)).kind == "ambiguous"


def test_a_redirect_is_not_followed(allowed: Receiver) -> None:
    allowed.tells = lambda path: (302, {"Location": f"http://{allowed.place}/other"}, b"")
    assert ask(tool(allowed)).kind == "ambiguous"
    assert len(allowed.seen) == 1


def test_an_answer_that_does_not_end_is_given_up(allowed: Receiver, settings: LazySettings) -> None:
    settings.CANCELBOARD_CHECK_SECONDS = 0.5
    go = Event()

    def drips(path: str) -> tuple[int, dict[str, str], bytes]:
        assert go.wait(20)
        return 200, {}, b"{}"

    allowed.tells = drips
    assert ask(tool(allowed)).kind == "timed_out"
    go.set()


def test_nobody_there_is_no_answer(settings: LazySettings) -> None:
    settings.CANCELBOARD_LOOKUP_HOSTS = ["127.0.0.1:9"]
    there = Tool(verifier="http", lookup_url="http://127.0.0.1:9/{key}", lookup_ok="yes")
    assert ask(there).kind == "other"


@pytest.mark.parametrize(
    "url",
    [
        *("http://169.254.169.254/{key}", "http://HOST.evil.test/{key}", "http://HOST@evil.test/{key}"),
        *("http://user@HOST/{key}", "ftp://HOST/{key}", "file:///etc/passwd?{key}", "http://HOST/none"),
        *(
            "http://{key}/x",
            "http://HOST/{key}/{target}",
            "http://HOST/{key}#x",
            "http://HOST/{key}\\@evil.test",
        ),
        *("http://HOST /{key}", "//HOST/{key}", "http://[/{key}", "http://HOST\n/{key}", ""),
    ],
)
def test_an_address_that_leads_elsewhere_is_never_asked(allowed: Receiver, url: str) -> None:
    assert verifiers.fault(url.replace("HOST", allowed.place))
    assert verifiers.of(tool(allowed, lookup_url=url.replace("HOST", allowed.place))) is None


def test_without_named_hosts_nobody_is_asked(receiver: Receiver, settings: LazySettings) -> None:
    settings.CANCELBOARD_LOOKUP_HOSTS = []
    assert verifiers.of(tool(receiver)) is None


def test_a_token_goes_to_its_tenants_host_and_nowhere_else(allowed: Receiver, settings: LazySettings) -> None:
    settings.CANCELBOARD_LOOKUP_TOKENS = {("acme", allowed.place): "t0ken", ("other", allowed.place): "no"}
    told(allowed, {"status": "captured"})
    found = ask(tool(allowed))
    assert allowed.seen[0][1]["Authorization"] == "Bearer t0ken"
    assert "t0ken" not in found.text + found.value
    settings.CANCELBOARD_LOOKUP_TOKENS = {("other", allowed.place): "no"}
    ask(tool(allowed))
    assert "Authorization" not in allowed.seen[1][1]


def test_a_proxy_of_the_environment_is_not_asked(allowed: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    told(allowed, {"status": "captured"})
    assert ask(tool(allowed)).outcome == "ok"


def test_it_settles_an_unknown_step(stage: Stage, allowed: Receiver) -> None:
    Tool.objects.filter(name="smtp/2").update(
        verifier="http", lookup_url=f"http://{allowed.place}/{{key}}", lookup_ok="captured"
    )
    told(allowed, {"status": "captured"})
    stage.unknown("order-1", {"label": "Pay", "tool": "smtp/2"})
    assert settle.one_pass()["check settled"] == 1
    assert stage.row("order-1").result == "succeeded"
