"""What verifiers find settles a step, alone and once; what they don't find settles nothing (protocol,
section 10)."""

import json
from datetime import timedelta
from threading import Event

import pytest
from django.conf import LazySettings
from django.db import connection

from runs import settle
from runs.asides import Asides
from runs.commands import checks
from runs.models import Check, Proposal, Receipt, Tool
from runs.protocol.canonical import idempotency_key
from runs.verifiers import Finding
from tests.board.cast import Stage

from .conftest import STEP, Oracle, check, due, unknown

KEY = idempotency_key("acme", "order-1", 0)


def kept(kind: str) -> list[Receipt]:
    return list(Receipt.objects.filter(kind=kind).order_by("seq"))


def test_what_it_finds_settles_the_step_and_confirms_the_stop(stage: Stage, verifier: Oracle) -> None:
    unknown(stage)
    verifier.says = lambda question: Finding.happened("In the log.", "message 7")
    done = settle.one_pass()
    assert done["check settled"] == 1
    (receipt,) = kept("reconcile")
    assert (receipt.status, receipt.actor_type, receipt.actor_name) == ("settled", "verifier", "oracle")
    body = json.loads(receipt.body)
    assert (body["outcome"], body["value"]) == ("ok", "message 7")
    assert body["evidence"] == {"kind": "receiver_confirmed", "text": "In the log.", "link": None}
    row = stage.row("order-1")
    assert (row.control, row.result) == ("acknowledged", "succeeded")


def test_it_is_asked_by_the_idempotency_key_and_told_what_the_step_is(stage: Stage, verifier: Oracle) -> None:
    unknown(stage)
    settle.one_pass()
    (question,) = verifier.asked
    assert (question.tenant, question.job_id, question.ordinal) == ("acme", "order-1", 0)
    assert (question.key, question.tool, question.target) == (KEY, "smtp/2", "ada@example.test")


@pytest.mark.parametrize(("sealed", "kind"), [(True, "receiver_sealed"), (False, "receiver_refused")])
def test_a_refusal_by_the_receiver_is_did_not_happen(
    stage: Stage, verifier: Oracle, sealed: bool, kind: str
) -> None:
    unknown(stage)
    verifier.says = lambda question: Finding.refused("Refused.", sealed=sealed)
    settle.one_pass()
    assert json.loads(kept("reconcile")[0].body)["evidence"]["kind"] == kind
    assert stage.row("order-1").result == "failed"


@pytest.mark.parametrize("kind", ["not_found", "timed_out", "ambiguous", "other"])
def test_finding_nothing_settles_nothing(stage: Stage, verifier: Oracle, kind: str) -> None:
    unknown(stage)
    verifier.says = lambda question: Finding.not_known(kind, "Nothing there.")
    settle.one_pass()
    assert stage.row("order-1").cur == "unknown"
    (receipt,) = kept("observe")
    assert (receipt.status, receipt.actor_type) == ("observed", "verifier")
    assert (check().answer, check().said) == (kind, "Nothing there.")


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        *(("rejected", kind) for kind in ("not_found", "timed_out", "ambiguous", "other", "worker_refused")),
        ("ok", "worker_reported"),
        ("ok", "not_found"),
        ("", "receiver_confirmed"),
    ],
)
def test_no_finding_claims_more_than_its_evidence(outcome: str, kind: str) -> None:
    with pytest.raises(ValueError, match=kind):
        Finding(outcome, kind, "text")


def test_the_same_answer_again_leaves_no_receipt_and_another_one_does(stage: Stage, verifier: Oracle) -> None:
    unknown(stage)
    for _ in range(3):
        settle.one_pass()
        due(stage)
    assert len(verifier.asked) == 3
    assert len(kept("observe")) == 1
    verifier.says = lambda question: Finding.not_known("ambiguous", "Two of them.")
    settle.one_pass()
    assert len(kept("observe")) == 2


def test_it_is_asked_again_with_back_off_and_jitter(stage: Stage, verifier: Oracle) -> None:
    unknown(stage)
    settle.one_pass()
    settle.one_pass()
    assert len(verifier.asked) == 1, "not due yet"
    for tries in range(1, 30):
        waits = {checks.wait(tries).total_seconds() for _ in range(20)}
        full = min(3600, 10 * 2 ** (tries - 1))
        assert full / 2 <= min(waits) < max(waits) <= full


def test_a_tool_without_a_verifier_waits_for_a_person(stage: Stage, verifier: Oracle) -> None:
    Tool.objects.update(verifier="")
    unknown(stage)
    settle.one_pass()
    assert verifier.asked == []
    assert not Check.objects.exists()


def test_a_verifier_that_this_process_does_not_know_stops_nothing(
    stage: Stage, verifier: Oracle, caplog: pytest.LogCaptureFixture
) -> None:
    Tool.objects.update(verifier="elsewhere")
    unknown(stage)
    settle.one_pass()
    assert "elsewhere" in caplog.text
    assert stage.row("order-1").cur == "unknown"


def test_only_unknown_steps_are_looked_up(stage: Stage, verifier: Oracle) -> None:
    stage.begin("order-1", STEP)
    settle.one_pass()
    assert verifier.asked == [], "its worker still holds it"
    stage.ago -= timedelta(hours=1)
    settle.one_pass()
    assert len(verifier.asked) == 1, "the lapse made it unknown, in the same pass"


def test_it_settles_alone_where_two_people_are_asked_and_past_an_open_entry(
    stage: Stage, verifier: Oracle
) -> None:
    unknown(stage, queue="books")
    entered = stage(
        "lena",
        "order-1",
        "reconcile",
        ordinal=0,
        outcome="ok",
        evidence={"kind": "receiver_confirmed", "text": "x"},
    )
    assert entered.status == "proposed"
    verifier.says = lambda question: Finding.happened("In the log.")
    settle.one_pass()
    assert kept("reconcile")[-1].status == "settled"
    proposal = Proposal.objects.get()
    assert stage("system", "order-1", "approve", proposal=proposal.proposal_id).status == "superseded"


def test_who_settled_it_first_stands_and_a_contradiction_is_a_dispute(stage: Stage, verifier: Oracle) -> None:
    unknown(stage)

    def late(question: object) -> Finding:
        return Finding.happened("In the log.")

    asides = Asides()
    verifier.says = late
    settle.one_pass(asides)
    evidence = {"kind": "receiver_refused", "text": "550"}
    assert stage("lena", "order-1", "reconcile", ordinal=0, outcome="rejected", evidence=evidence).code == 200
    while len(asides):
        asides.wait()
        settle.one_pass(asides)
    assert kept("reconcile")[-1].status == "already_settled"
    assert stage.row("order-1").disputed == 1


def test_a_verifier_that_fails_is_said_and_asked_again(
    stage: Stage, verifier: Oracle, caplog: pytest.LogCaptureFixture
) -> None:
    unknown(stage)

    def fails(question: object) -> Finding:
        raise RuntimeError("a fault of the function")

    verifier.says = fails
    assert settle.one_pass()["check observed"] == 1
    assert "a fault of the function" in caplog.text
    assert check().answer == "other"
    verifier.says = lambda question: "yes"  # type: ignore[assignment]
    due(stage)
    settle.one_pass()
    assert stage.row("order-1").cur == "unknown", "a word is no finding"


def test_an_answer_that_can_not_be_kept_settles_nothing(stage: Stage, verifier: Oracle) -> None:
    unknown(stage)
    verifier.says = lambda question: Finding.happened("In the log.", "\x1b[2J")
    settle.one_pass()
    assert stage.row("order-1").cur == "unknown"
    assert check().answer == "ambiguous"


def test_one_that_hangs_is_given_up_and_counts_at_its_receiver(
    stage: Stage, verifier: Oracle, settings: LazySettings
) -> None:
    settings.CANCELBOARD_CHECKS_AT_ONCE = 1
    settings.CANCELBOARD_CHECK_SECONDS = -1  # given up at once
    go = Event()

    def hangs(question: object) -> Finding:
        assert go.wait(20)
        return Finding.happened("Late.")

    verifier.says = hangs
    unknown(stage, "order-1")
    asides = Asides()
    settle.one_pass(asides)
    settle.one_pass(asides)
    assert check().answer == "timed_out"
    unknown(stage, "order-2")
    settle.one_pass(asides)
    assert len(verifier.asked) == 1, "its thread still waits for the receiver"
    go.set()
    while asides.stuck("oracle"):
        asides.wait()
    assert stage.row("order-1").cur == "unknown", "nobody listens to it any more"


def test_it_is_asked_outside_of_any_transaction(
    stage: Stage, verifier: Oracle, django_capture_on_commit_callbacks: object
) -> None:
    outside: list[bool] = []

    def look(question: object) -> Finding:
        outside.append(not connection.in_atomic_block)  # this thread's own connection
        outside.append(connection.connection is None)
        return Finding.not_known("other", "Looked.")

    verifier.says = look
    unknown(stage)
    settle.one_pass()
    assert outside == [True, True]


def test_no_more_than_so_many_at_once_and_the_rest_when_there_is_room(
    stage: Stage, verifier: Oracle, settings: LazySettings
) -> None:
    settings.CANCELBOARD_CHECKS_AT_ONCE = 2
    for n in range(5):
        unknown(stage, f"order-{n}")
    first = checks.take(lambda receiver: 0)
    assert len(first) == 2
    assert checks.take(lambda receiver: 0) == [], "a second loop finds no room"
    for booked in first:
        checks.record(booked, Finding.not_known("not_found", "Nothing there."))
    assert len(checks.take(lambda receiver: 0)) == 2
    assert Check.objects.count() == 4


def test_a_booking_of_a_loop_that_died_ends_by_itself(stage: Stage, verifier: Oracle) -> None:
    unknown(stage)
    (dead,) = checks.take(lambda receiver: 0)
    assert checks.take(lambda receiver: 0) == []
    due(stage)
    (alive,) = checks.take(lambda receiver: 0)
    assert alive.tries == dead.tries + 1
    checks.record(dead, Finding.not_known("ambiguous", "From the dead."))
    assert check().running_until is not None, "the row is the living one's"
    assert check().said == ""
