"""Whatever is sent, the answer names the field that is wrong, and nothing is stored (PROTOCOL 2 and 6)."""

import json
from typing import Any

import pytest

from runs.models import Delivery, Job, Receipt

from .cast import Caller, spec

DEEP = json.loads('{"a":' * 17 + "1" + "}" * 17)
BIG = 2**53


def submit(**changes: Any) -> str:
    return json.dumps({"job_id": "j", "spec": spec(**changes)})


def step(**changes: Any) -> str:
    return submit(steps=[{"label": "Send it"} | changes])


def raw(inner: str) -> bytes:
    """A submit whose params hold `inner`, written as it stands."""
    head = b'{"job_id":"j","spec":{"queue":"mail","steps":[{"label":"a","params":{"x":'
    return head + inner.encode() + b"}}]}}"


SUBMITS: dict[str, tuple[str | bytes, str]] = {
    "no JSON": ("{", "body"),
    "empty": ("", "body"),
    "a list": ("[]", "body"),
    "null": ("null", "body"),
    "a string": ('"j"', "body"),
    "two values": ("{} {}", "body"),
    "a byte order mark": ("\ufeff" + submit(), "body"),
    "invalid UTF-8": (b'{"job_id": "\xff"}', "body"),
    "UTF-16": (submit().encode("utf-16"), "body"),
    "brackets without end": ("[" * 100_000, "body"),
    "nesting without end": ('{"a":' * 100_000, "body"),
    "no job id": (json.dumps({"spec": spec()}), "job_id"),
    "no spec": ('{"job_id": "j"}', "spec"),
    "an unknown key": (json.dumps({"job_id": "j", "spec": spec(), "tenant": "x"}), "tenant"),
    "an unknown key of the spec": (submit(priority=1), "spec.priority"),
    "an unknown key of a step": (step(delay=1), "spec.steps.0.delay"),
    "a key twice": ('{"job_id": "j", "job_id": "k"}', "job_id"),
    "a key of the spec twice": ('{"job_id": "j", "spec": {"queue": "a", "queue": "a"}}', "spec.queue"),
    "a job id of another type": (json.dumps({"job_id": 7, "spec": spec()}), "job_id"),
    "a job id that is empty": (json.dumps({"job_id": "", "spec": spec()}), "job_id"),
    "a job id too long": (json.dumps({"job_id": "j" * 129, "spec": spec()}), "job_id"),
    "a job id too long with its generation": (
        json.dumps({"job_id": "j" * 128 + "@1", "spec": spec()}),
        "job_id",
    ),
    "a job id with a newline": (json.dumps({"job_id": "j\n", "spec": spec()}), "job_id"),
    "a job id with a slash": (json.dumps({"job_id": "a/b", "spec": spec()}), "job_id"),
    "a generation too high": (json.dumps({"job_id": f"j@{2**31}", "spec": spec()}), "job_id"),
    "an event id it does not have": (
        json.dumps({"job_id": "j", "spec": spec(), "event_id": "e"}),
        "event_id",
    ),
    "a queue that there is not": (submit(queue="nowhere"), "spec.queue"),
    "an owner of another type": (submit(owner=None), "spec.owner"),
    "an owner too long in bytes": (submit(owner="é" * 101), "spec.owner"),
    "a dispatch of another word": (submit(dispatch="later"), "spec.dispatch"),
    "no steps": (submit(steps=[]), "spec.steps"),
    "steps that are none": (submit(steps="Send it"), "spec.steps"),
    "steps in an object": (submit(steps={"0": "a"}), "spec.steps"),
    "257 steps": (submit(steps=["a"] * 257), "spec.steps"),
    "a step that is a number": (submit(steps=[1]), "spec.steps.0"),
    "a label too long": (submit(steps=["a", "b" * 201]), "spec.steps.1.label"),
    "a label with NUL": (step(label="a\0b"), "spec.steps.0.label"),
    "a label with a newline": (step(label="a\nb"), "spec.steps.0.label"),
    "a label with a C1 control": (step(label="a\u0085b"), "spec.steps.0.label"),
    "params that are a list": (step(params=[1]), "spec.steps.0.params"),
    "params too large": (step(params={"x": "a" * 16_384}), "spec.steps.0.params"),
    "params nested too deeply": (step(params=DEEP), "spec.steps.0.params"),
    "NUL in a string of params": (step(params={"x": "\0"}), "spec.steps.0.params"),
    "NUL in a key of params": (step(params={"\0": 1}), "spec.steps.0.params"),
    "a key of params twice": (raw('1, "x": 2'), "spec.steps.0.params.x"),
    "a lone surrogate": (raw(r'"\ud800"'), "spec.steps.0.params.x"),
    "a fraction": (raw("1.5"), "spec.steps.0.params.x"),
    "a whole fraction": (raw("1.0"), "spec.steps.0.params.x"),
    "an exponent": (raw("1e3"), "spec.steps.0.params.x"),
    "infinity by exponent": (raw("1e400"), "spec.steps.0.params.x"),
    "NaN": (raw("NaN"), "spec.steps.0.params.x"),
    "-Infinity": (raw("-Infinity"), "spec.steps.0.params.x"),
    "an integer beyond 2^53 - 1": (raw(str(BIG)), "spec.steps.0.params.x"),
    "an integer of many digits": (raw("9" * 100_000), "spec.steps.0.params.x"),
}


@pytest.mark.parametrize(("body", "field"), SUBMITS.values(), ids=SUBMITS)
def test_a_submit_is_refused_by_name(app: Caller, body: str | bytes, field: str) -> None:
    reply = app.raw("/jobs", body)
    assert reply.told == (422, "invalid")
    assert reply.fields[0] == field
    assert reply["errors"][0]["message"]
    assert (Job.objects.count(), Receipt.objects.count()) == (0, 0)


EVIDENCE = {"kind": "receiver_confirmed", "text": "250"}
COMMANDS: dict[str, tuple[str, dict[str, Any], str]] = {
    "no event id": ("pause", {"event_id": None}, "event_id"),
    "an event id of the server's kind": ("pause", {"event_id": "~abc"}, "event_id"),
    "an event id too long": ("pause", {"event_id": "e" * 129}, "event_id"),
    "a note too long": ("pause", {"note": "n" * 4097}, "note"),
    "a note with NUL": ("pause", {"note": "\0"}, "note"),
    "a cause that there is not": ("pause", {"cause": "nothing"}, "cause"),
    "a cancel of no spec": ("cancel", {}, "spec"),
    "a cancel of two specs": ("cancel", {"spec": spec(), "spec_digest": "0" * 64}, "spec_digest"),
    "a digest that is none": ("cancel", {"spec_digest": "ABC"}, "spec_digest"),
    "a cause that releases": ("cancel", {"spec": spec(), "cause": "work_finished"}, "cause"),
    "asked by too long": ("cancel", {"spec": spec(), "asked_by": "é" * 101}, "asked_by"),
    "a grace below zero": ("cancel", {"spec": spec(), "grace_seconds": -1}, "grace_seconds"),
    "a grace in words": ("cancel", {"spec": spec(), "grace_seconds": "90"}, "grace_seconds"),
    "a cascade in words": ("cancel", {"spec": spec(), "cascade": "yes"}, "cascade"),
    "a lease too short": ("claim", {"event_id": ..., "worker": "w", "ttl_seconds": 4}, "ttl_seconds"),
    "a lease too long": ("claim", {"event_id": ..., "worker": "w", "ttl_seconds": 3601}, "ttl_seconds"),
    "a lease that is true": ("claim", {"event_id": ..., "worker": "w", "ttl_seconds": True}, "ttl_seconds"),
    "a worker with spaces": ("claim", {"event_id": ..., "worker": "a b"}, "worker"),
    "an empty attempt": ("reserve", {"event_id": ..., "claim": "x", "attempt": ""}, "attempt"),
    "heard in words": ("heartbeat", {"event_id": ..., "claim": "x", "heard": "1"}, "heard"),
    "no ordinal": ("release", {"claim": "x"}, "ordinal"),
    "an ordinal in words": ("release", {"claim": "x", "ordinal": "0"}, "ordinal"),
    "another outcome": ("report", {"claim": "x", "ordinal": 0, "outcome": "maybe"}, "outcome"),
    "a value of the unknown": (
        "report",
        {"claim": "x", "ordinal": 0, "outcome": "unknown", "value": "v"},
        "value",
    ),
    "rejected without evidence": ("report", {"claim": "x", "ordinal": 0, "outcome": "rejected"}, "evidence"),
    "a value too long": (
        "report",
        {"claim": "x", "ordinal": 0, "outcome": "ok", "value": "v" * 4097},
        "value",
    ),
    "evidence of another kind": (
        "observe",
        {"ordinal": 0, "evidence": EVIDENCE | {"kind": "hearsay"}},
        "evidence.kind",
    ),
    "evidence with a script": (
        "observe",
        {"ordinal": 0, "evidence": EVIDENCE | {"link": "javascript:alert(1)"}},
        "evidence.link",
    ),
    "a link too long": (
        "observe",
        {"ordinal": 0, "evidence": EVIDENCE | {"link": "https://x/" + "a" * 2000}},
        "evidence.link",
    ),
    "evidence without text": ("observe", {"ordinal": 0, "evidence": {"kind": "other"}}, "evidence.text"),
    "an unknown key of evidence": (
        "observe",
        {"ordinal": 0, "evidence": EVIDENCE | {"by": "me"}},
        "evidence.by",
    ),
    "no evidence": ("reconcile", {"ordinal": 0, "outcome": "ok"}, "evidence"),
    "reconciled as unknown": (
        "reconcile",
        {"ordinal": 0, "outcome": "unknown", "evidence": EVIDENCE},
        "outcome",
    ),
    "a body for a checkpoint": ("checkpoint", {"event_id": ..., "force": True}, "force"),
}


@pytest.mark.parametrize(("command", "body", "field"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_is_refused_by_name(app: Caller, command: str, body: dict[str, Any], field: str) -> None:
    app.submit("j")
    sent = {key: value for key, value in ({"event_id": "e-free"} | body).items() if value is not ...}
    reply = app.post(f"/jobs/j/{command}", sent)
    assert reply.told == (422, "invalid")
    assert field in reply.fields
    assert (Receipt.objects.count(), Delivery.objects.count()) == (1, 0)


def test_an_event_id_that_was_refused_is_still_free(app: Caller) -> None:
    app.submit("j")
    assert app.post("/jobs/j/pause", {"event_id": "e", "note": "\0"}).code == 422
    assert app.post("/jobs/j/pause", {"event_id": "e", "note": "wait"}).told == (200, "paused")


def test_the_largest_that_is_taken_is_taken_whole(app: Caller) -> None:
    params = {"x": "a" * (16 * 1024 - len('{"x":""}'))}
    steps = [{"label": "é" * 100, "tool": "t" * 200, "target": "t" * 200, "params": params}]
    assert app.submit("j@2147483647", *steps, owner="o" * 200).told == (201, "admitted")
    step = app.job("j@2147483647")["steps"][0]
    assert (step["label"], step["params"]) == ("é" * 100, params)
    assert app.submit("k", *["a"] * 256).told == (201, "admitted")
    note = "a\tb\n" * 1024
    assert app.ask("k", "pause", note=note).told == (200, "paused")
    assert app.get("/jobs/k/receipts")["receipts"][-1]["body"]["note"] == note


def test_integers_to_the_edge_are_kept_exactly(app: Caller) -> None:
    numbers = {"high": 2**53 - 1, "low": -(2**53) + 1, "zero": 0}
    app.submit("j", {"label": "a", "params": numbers})
    assert app.job("j")["steps"][0]["params"] == numbers


def padded(size: int) -> bytes:
    """A right submit of exactly `size` bytes."""
    body = submit().encode()
    return b" " * (size - len(body)) + body


def test_a_body_of_one_mebibyte_and_no_more(app: Caller) -> None:
    assert app.raw("/jobs", padded(2**20 + 1)).told == (413, "too_large")
    assert Job.objects.count() == 0
    assert app.raw("/jobs", padded(2**20)).told == (201, "admitted")


TYPES = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/json",
    "",
]


@pytest.mark.parametrize("content_type", [*TYPES, "application/json; charset=utf-16"])
def test_another_media_type(app: Caller, content_type: str) -> None:
    assert app.raw("/jobs", submit(), content_type).told == (415, "wrong_media_type")
    assert Job.objects.count() == 0


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=UTF-8"])
def test_json_by_its_name(app: Caller, content_type: str) -> None:
    assert app.raw("/jobs", submit(), content_type).told == (201, "admitted")


@pytest.mark.parametrize("content_type", ["", "application/json", "text/plain"])
def test_a_checkpoint_needs_no_body(app: Caller, content_type: str) -> None:
    app.submit("j")
    assert app.raw("/jobs/j/checkpoint", b"", content_type).told == (200, "run")
    assert app.raw("/jobs/j/checkpoint", b"{}").told == (200, "run")


def test_a_hostile_body_is_answered_briefly(app: Caller) -> None:
    keys = {f"{'k' * 2000}{n}": 1 for n in range(400)}
    reply = app.raw("/jobs", json.dumps({"job_id": "j", "spec": spec()} | keys))
    assert reply.code == 422
    assert len(reply.response.content) < 50_000


QUERIES = {
    "limit": ["0", "201", "-1", "many", "1.5", "9" * 5000],
    "cursor": ["x", "WzEsMl0:abc:def", "é", "\0"],
    "control": ["stopped"],
    "result": ["ok"],
    "headline": ["gone"],
    "unsettled": ["perhaps"],
    "queue": ["a b", "mail\0"],
    "owner": ["\0", "o" * 201],
    "q": ["\0", "q" * 129],
    "quue": ["mail"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in QUERIES for value in QUERIES[name]])
def test_a_query_is_refused_by_name(app: Caller, name: str, value: str) -> None:
    reply = app.get("/jobs", **{name: value})
    assert (reply.told, reply.fields) == ((422, "invalid"), [name])


def test_a_parameter_given_twice(app: Caller) -> None:
    reply = app.request("GET", "/jobs", {"queue": ["mail", "ledger"]})
    assert (reply.told, reply.fields) == ((422, "invalid"), ["queue"])


@pytest.mark.parametrize("after", ["-1", str(2**53), "x"])
def test_a_place_among_receipts_that_is_none(app: Caller, after: str) -> None:
    app.submit("j")
    assert app.get("/jobs/j/receipts", after=after).fields == ["after"]
