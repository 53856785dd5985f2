"""A streaming call to a model, and an HTTP tool: the reading stops, the stream is closed at the receiver."""

import json
import socket
import ssl
import threading

import httpx
import pytest

from runs.adapters import http
from runs.adapters.loops import turns
from runs.worker import Cancelled, CancelToken, Happened, How, StepContext
from tests.worker.conftest import MakeWorker, Submit

from .conftest import AT_ONCE, GOAL, Chat, Watch


def cancel_after(
    chat: Chat, heard: int, watch: Watch, token: CancelToken, grace: float | None = None
) -> None:
    """When the endpoint has been asked and has said all but nothing more comes."""

    def cancel() -> None:
        for _ in range(heard):
            assert chat.said.acquire(timeout=20)
        watch.cancel(token, grace)

    threading.Thread(target=cancel, daemon=True).start()


def test_a_stream_is_read_to_its_end(chat: Chat, token: CancelToken) -> None:
    chat.go_on.set()
    with http.stream(token, "POST", chat.url, json={"prompt": "hello"}) as words:
        lines = [line for line in words.iter_lines() if line]
    assert lines == ['data: {"word": 0}', 'data: {"word": 1}', 'data: {"word": 2}', "data: [DONE]"]


def test_a_stream_in_mid_sentence_is_closed_at_once(chat: Chat, token: CancelToken, watch: Watch) -> None:
    read = list[str]()
    cancel_after(chat, 4, watch, token)
    with pytest.raises(Cancelled) as told:  # noqa: SIM117 (the block is what ends)
        with http.stream(token, "POST", chat.url, json={"prompt": "hello"}) as words:
            read.extend(line for line in words.iter_lines() if line)
    assert watch.took < AT_ONCE
    assert told.value.cause == GOAL
    assert "[DONE]" not in "".join(read)
    assert chat.hung_up.acquire(timeout=AT_ONCE), "the receiver still streams"


def test_a_stream_that_has_not_said_its_first_word_is_closed_at_once(
    chat: Chat, token: CancelToken, watch: Watch
) -> None:
    cancel_after(chat, 1, watch, token)
    with pytest.raises(Cancelled), http.stream(token, "POST", chat.url, json={"prompt": "silent"}):
        raise AssertionError("it has an answer")
    assert watch.took < AT_ONCE
    assert chat.hung_up.acquire(timeout=AT_ONCE)


def test_a_stream_over_tls_is_closed_at_once_too(
    tls_chat: tuple[Chat, ssl.SSLContext], token: CancelToken, watch: Watch
) -> None:
    chat, trusts = tls_chat
    cancel_after(chat, 4, watch, token)
    with (
        pytest.raises(Cancelled),
        http.stream(token, "POST", chat.url, json={"prompt": "hello"}, verify=trusts) as words,
    ):
        assert len([line for line in words.iter_lines() if line]) <= 3
    assert watch.took < AT_ONCE
    assert chat.hung_up.acquire(timeout=AT_ONCE)


def test_nothing_is_asked_after_the_cancel(chat: Chat, token: CancelToken) -> None:
    token.cancel(GOAL)
    with pytest.raises(Cancelled), http.stream(token, "POST", chat.url, json={"prompt": "hello"}):
        raise AssertionError("it was asked")
    with pytest.raises(Cancelled):
        http.request(token, "POST", chat.url, json={"prompt": "hello"})
    assert chat.asked == []


def test_a_stop_lets_a_tool_s_call_finish(chat: Chat, token: CancelToken, watch: Watch) -> None:
    def finish(_: object) -> None:
        chat.go_on.set()

    token.on_cancel(finish)
    cancel_after(chat, 4, watch, token)
    answer = http.request(token, "POST", chat.url, json={"prompt": "pay"})
    assert token.cancelled
    assert answer.text.endswith("data: [DONE]\n\n")


def test_an_abort_does_not(chat: Chat, token: CancelToken, watch: Watch) -> None:
    cancel_after(chat, 4, watch, token, grace=0.05)
    with pytest.raises(Cancelled):
        http.request(token, "POST", chat.url, json={"prompt": "pay"})
    assert watch.took < AT_ONCE
    assert chat.hung_up.acquire(timeout=AT_ONCE)


def test_a_receiver_that_hangs_up_is_not_taken_for_a_cancel(token: CancelToken) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        threading.Thread(target=lambda: deaf.accept()[0].close(), daemon=True).start()
        with pytest.raises(httpx.TransportError):
            http.request(token, "GET", url)


def test_an_agent_of_turns_tools_and_a_model_ends_with_the_accepted_cancel(
    submit: Submit, worker: MakeWorker, chat: Chat, watch: Watch
) -> None:
    """The whole way: accepted by the server, heard by the heartbeat, and the model's stream is closed. No
    turn and no tool begins after that, at the receiver."""
    tools = list[int]()

    def agent(step: StepContext) -> Happened:
        for turn in turns(step.cancel, at_most=50):
            if turn == 3:
                chat.go_on.clear()
            with http.stream(step.cancel, "POST", chat.url, json={"prompt": str(turn)}) as words:
                if turn == 3:
                    job.cancel("goal_met")
                answers = [json.loads(line[6:]) for line in words.iter_lines() if line.startswith("data: {")]
            tools.append(len(answers))
        return Happened("done")

    chat.go_on.set()
    job = submit()
    ended = worker(agent).run(job.id)
    assert (ended.how, ended.cause and ended.cause.code) == (How.UNKNOWN, "goal_met")
    assert chat.asked == ["0", "1", "2", "3"]
    assert tools == [3, 3, 3]
    assert chat.hung_up.acquire(timeout=AT_ONCE)
