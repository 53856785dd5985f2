"""Every bound of a command's body (protocol.md, sections 2, 4, 6) at its edge, and what an event id binds."""

from typing import Any

import pytest

from runs.protocol import asks

from .shapes import a_spec, bytes_of, refused

BIGGEST = 2**53 - 1
DIGEST = "0" * 64
SPEC = {"queue": "mail", "steps": ["a"]}
EVENT = {"event_id": "e", "claim": "1-x", "ordinal": 0, "outcome": "ok"}
CANCEL = {"event_id": "e", "spec_digest": DIGEST}
EVIDENCE = {"kind": "receiver_confirmed", "text": "seen"}
RECONCILE = {"event_id": "e", "ordinal": 0, "outcome": "ok", "evidence": EVIDENCE}


def evidence(**changes: Any) -> dict[str, Any]:
    return {**RECONCILE, "evidence": {**EVIDENCE, **changes}}


ASK_EDGES = {
    "a note of 4 KiB": (asks.Cancel, CANCEL, "note", bytes_of(4096), bytes_of(4097)),
    "newline and tab in a note": (asks.Cancel, CANCEL, "note", "a\n\tb", "a\rb"),
    "asked_by of 200 bytes": (asks.Cancel, CANCEL, "asked_by", bytes_of(200), bytes_of(201)),
    "asked_by is a line": (asks.Cancel, CANCEL, "asked_by", "Ada", "Ada\n"),
    "a cause is a code": (asks.Cancel, CANCEL, "cause", "user_requested", "user requested"),
    "grace is not negative": (asks.Cancel, CANCEL, "grace_seconds", 0, -1),
    "grace is an integer": (asks.Cancel, CANCEL, "grace_seconds", 90, True),
    "a digest is 64 hex": (asks.Cancel, CANCEL, "spec_digest", "a" * 64, "A" * 64),
    "a digest is 64 long": (asks.Cancel, CANCEL, "spec_digest", "a" * 64, "a" * 63),
    "cascade is a boolean": (asks.Cancel, CANCEL, "cascade", True, "yes"),
    "a lease of 5 seconds": (asks.Claim, {"worker": "w1"}, "ttl_seconds", 5, 4),
    "a lease of an hour": (asks.Claim, {"worker": "w1"}, "ttl_seconds", 3600, 3601),
    "an attempt of 128 bytes": (asks.Reserve, {"claim": "1-x"}, "attempt", bytes_of(128), bytes_of(129)),
    "an attempt is a line": (asks.Dispatch, {"claim": "1-x", "ordinal": 0}, "attempt", "x", "x\n"),
    "an ordinal of 2^53 - 1": (
        asks.Release,
        {"event_id": "e", "claim": "1-x"},
        "ordinal",
        BIGGEST,
        BIGGEST + 1,
    ),
    "heard of 2^53 - 1": (asks.Heartbeat, {"claim": "1-x"}, "heard", BIGGEST, BIGGEST + 1),
    "a value of 4 KiB": (asks.Report, EVENT, "value", bytes_of(4096), bytes_of(4097)),
    "newline and tab in a value": (asks.Reconcile, RECONCILE, "value", "a\n\tb", "a\x0bb"),
    "three outcomes of a report": (asks.Report, EVENT, "outcome", "unknown", "OK"),
    "two outcomes of a reconcile": (asks.Reconcile, RECONCILE, "outcome", "rejected", "unknown"),
    "a generation below 2^31": (asks.Seal, {"event_id": "e"}, "generation", 2**31 - 1, 2**31),
    "a generation of 0": (asks.Seal, {"event_id": "e"}, "generation", 0, -1),
    "an ordinal is no boolean": (asks.CloseDispute, {"event_id": "e"}, "ordinal", 1, True),
    "an ordinal is no text": (asks.CloseDispute, {"event_id": "e"}, "ordinal", 1, "1"),
}


@pytest.mark.parametrize(("shape", "body", "field", "good", "bad"), ASK_EDGES.values(), ids=ASK_EDGES)
def test_a_command_s_bounds(shape: Any, body: Any, field: str, good: Any, bad: Any) -> None:
    assert refused(shape, {**body, field: good}) == []
    assert refused(shape, {**body, field: bad}) == [field]


LINK = "https://example.test/"
EVIDENCE_EDGES = {
    "text of 4 KiB": ({"text": bytes_of(4096)}, {"text": bytes_of(4097)}, "text"),
    "newline and tab in its text": ({"text": "a\n\tb"}, {"text": "a\x00b"}, "text"),
    "a link of 2,000 bytes": (
        {"link": LINK + bytes_of(2000 - len(LINK))},
        {"link": LINK + bytes_of(2001 - len(LINK))},
        "link",
    ),
    "links are http": ({"link": "http://a"}, {"link": "ftp://a"}, "link"),
    "links are https": ({"link": "HTTPS://a"}, {"link": "javascript:alert(1)//http://"}, "link"),
    "links have no newline": ({"link": "https://a/b"}, {"link": "https://a/\nb"}, "link"),
    "kinds are a closed list": ({"kind": "other"}, {"kind": "guessed"}, "kind"),
    "no unknown key of evidence": ({}, {"strength": 3}, "strength"),
}


@pytest.mark.parametrize(("good", "bad", "field"), EVIDENCE_EDGES.values(), ids=EVIDENCE_EDGES)
def test_evidence_s_bounds(good: Any, bad: Any, field: str) -> None:
    assert refused(asks.Reconcile, evidence(**good)) == []
    assert refused(asks.Reconcile, evidence(**bad)) == [f"evidence.{field}"]


def test_evidence_is_required_where_section_6_says() -> None:
    without = {"event_id": "e", "ordinal": 0}
    assert refused(asks.Reconcile, {**without, "outcome": "ok"}) == ["evidence"]
    assert refused(asks.Observe, without) == ["evidence"]
    assert refused(asks.Report, {**EVENT, "outcome": "rejected"}) == ["evidence"]
    assert refused(asks.Report, {**EVENT, "outcome": "ok"}) == []
    assert refused(asks.Report, {**EVENT, "outcome": "unknown"}) == []


def test_an_unknown_outcome_has_no_value() -> None:
    assert refused(asks.Report, {**EVENT, "outcome": "unknown", "value": "x"}) == ["value"]


def test_a_cancel_names_one_spec() -> None:
    whole = a_spec("a")
    assert refused(asks.Cancel, {"event_id": "e"}) == ["spec"]
    assert refused(asks.Cancel, {"event_id": "e", "spec": SPEC, "spec_digest": whole.digest}) == []
    assert refused(asks.Cancel, {"event_id": "e", "spec": SPEC, "spec_digest": DIGEST}) == ["spec_digest"]


def test_every_command_refuses_an_unknown_key() -> None:
    shapes = [ask for ask in vars(asks).values() if isinstance(ask, type) and "kind" in vars(ask)]
    assert len(shapes) == 24
    assert [shape.__name__ for shape in shapes if "surprise" not in refused(shape, {"surprise": 1})] == []


def test_content_has_the_defaults_filled_in() -> None:
    assert asks.Cancel.model_validate(CANCEL).content() == {
        "spec_digest": DIGEST,
        "cause": "canceled_no_cause",
        "note": "",
        "asked_by": "",
        "grace_seconds": 90,
        "cascade": False,
    }
    assert asks.Claim(worker="w1").content() == {"worker": "w1", "ttl_seconds": 90}


def test_a_spec_is_bound_by_its_digest_and_a_claim_by_its_fence() -> None:
    whole = a_spec("a")
    by_spec = asks.Cancel(event_id="e", spec=whole)
    assert by_spec.content() == asks.Cancel(event_id="f", spec_digest=whole.digest).content()
    told = asks.Report.model_validate({**EVENT, "claim": "7-secret"}).content(fence=7)
    assert (told["claim"], "secret" in str(told), "event_id" in told) == (7, False, False)
