"""The model tells PROTOCOL.md's stories of workers; the expected words are the page's, not the model's."""

from collections.abc import Callable

import pytest

from .told import CONFIRMED, REFUSED, Told, spec

pytestmark = pytest.mark.pure

Start = Callable[..., Told]


def test_a_late_success_is_kept_after_the_cancel(start: Start) -> None:
    world = start()
    assert world.say("cancel", spec=spec(), cause="user_requested") == (202, "requested")
    assert world.job("j")["headline"] == "verifying"
    assert world.say("report", claim=1, ordinal=0, outcome="ok", value="250 queued") == (200, "settled")
    assert world.job("j")["headline"] == "stopped"
    assert world.job("j")["steps"][0]["value"] == "250 queued"
    assert world.kinds()[-3:] == ["cancel requested", "report settled", "checkpoint acknowledged"]
    assert world.say("reserve", claim=1) == (200, "cancelled")
    beat = world.ask("heartbeat", claim=1)
    assert (beat.status, beat.fields["signal"]["level"], beat.fields["signal"]["seq"]) == (
        "closed",
        "stop",
        4,
    )


def test_a_stale_worker_cannot_pass_dispatch(start: Start) -> None:
    world = start(dispatch="marked")
    assert world.say("revoke", cause="operator_requested") == (200, "revoked")
    assert world.states() == ["pending", "pending"]  # without a mark it was not sent
    lost = world.ask("dispatch", claim=1, ordinal=0, attempt="a")
    assert (lost.http, lost.status, lost.fields) == (409, "claim_lost", {"cause": "operator_requested"})
    assert world.ask("claim", worker="worker-2").fields["fence"] == 3


def test_a_claim_is_held_until_its_lease_ends_and_then_taken_over(start: Start) -> None:
    world = start()
    held = world.ask("claim", worker="worker-2", now=89)
    assert (held.http, held.status, held.fields) == (409, "claim_held", {"holder": "worker-1"})
    assert world.ask("claim", worker="worker-2", now=90).fields["fence"] == 2
    assert world.states()[0] == "unknown"
    assert world.ask("heartbeat", claim=1).fields == {"cause": "work_claim_lost"}
    assert "lapse lapsed" not in world.kinds()


def test_a_lapsed_claim_that_nobody_took_comes_alive_again(start: Start) -> None:
    world = start()
    world.settle(now=90)
    assert world.job("j")["claim"]["live"] is False
    assert world.say("heartbeat", claim=1) == (200, "ok")
    assert world.job("j")["claim"]["live"] is True
    asked = world.say("reconcile", ordinal=0, outcome="ok", evidence=CONFIRMED)
    assert asked == (409, "still_claimed")
    assert world.say("report", claim=1, ordinal=0, outcome="ok") == (200, "settled")


def test_the_mark_is_given_to_one_attempt_only(start: Start) -> None:
    world = start(dispatch="marked")
    assert world.say("dispatch", claim=1, ordinal=0) == (409, "not_reserved")
    assert world.say("dispatch", claim=1, ordinal=0, attempt="b") == (409, "not_reserved")
    assert world.ask("reserve", claim=1, attempt="a").replayed
    assert world.say("dispatch", claim=1, ordinal=0, attempt="a") == (200, "dispatched")
    assert world.ask("dispatch", claim=1, ordinal=0, attempt="a").replayed
    assert world.say("dispatch", claim=1, ordinal=0, attempt="b") == (409, "already_dispatched")
    assert world.say("reserve", claim=1, attempt="a") == (200, "inflight")
    assert world.say("release", claim=1, ordinal=0) == (409, "already_dispatched")


def test_dispatch_after_a_cancel_takes_the_step_back_and_confirms(start: Start) -> None:
    world = start(dispatch="marked")
    world.ask("cancel", spec=spec(dispatch="marked"))
    assert world.say("dispatch", claim=1, ordinal=0, attempt="a") == (200, "cancelled")
    assert world.kinds()[-2:] == ["dispatch cancelled", "checkpoint acknowledged"]


@pytest.mark.parametrize(
    ("dispatch", "sent", "cancelled", "after"),
    [
        ("unmarked", False, False, "unknown"),
        ("marked", False, False, "inflight"),
        ("marked", False, True, "pending"),
        ("marked", True, False, "unknown"),
        ("marked", True, True, "unknown"),
    ],
)
def test_a_lapsed_lease(start: Start, dispatch: str, sent: bool, cancelled: bool, after: str) -> None:
    world = start(dispatch=dispatch)
    if sent:
        world.ask("dispatch", claim=1, ordinal=0, attempt="a")
    if cancelled:
        world.ask("cancel", spec=spec(dispatch=dispatch))
    world.settle(now=89)
    assert world.states()[0] == "inflight"
    world.settle(now=90)
    assert world.states()[0] == after
    assert ("lapse lapsed" in world.kinds()) == (after != "inflight")
    assert ("checkpoint acknowledged" in world.kinds()) == (after == "pending")


def test_a_step_put_back_by_a_lapse_keeps_the_late_word_as_testimony(start: Start) -> None:
    world = start(dispatch="marked")
    world.ask("cancel", spec=spec(dispatch="marked"))
    world.settle(now=90)
    assert world.say("report", claim=1, ordinal=0, outcome="ok", value="7f") == (409, "fenced")
    assert world.job("j")["steps"][0]["disputed"]
    assert world.say("reconcile", ordinal=0, outcome="ok", evidence=CONFIRMED) == (200, "settled")
    assert world.job("j")["disputed"]
    assert world.say("close_dispute", ordinal=0) == (200, "dispute_closed")
    assert world.say("close_dispute", ordinal=0) == (409, "not_disputed")


def test_a_disputed_pending_step_is_not_handed_out(start: Start) -> None:
    world = start(dispatch="marked", steps=1)
    world.ask("revoke")
    world.ask("claim", worker="worker-2")
    assert world.say("report", claim=1, ordinal=0, outcome="rejected", evidence=REFUSED) == (
        409,
        "not_reserved",
    )
    assert world.say("report", claim=1, ordinal=0, outcome="unknown") == (409, "fenced")
    assert world.say("reserve", claim=3) == (200, "disputed")
    assert world.say("close_dispute", ordinal=0) == (200, "dispute_closed")
    assert world.say("reserve", claim=3) == (200, "reserved")


def test_a_closed_dispute_clears_what_the_testimony_claimed_but_not_the_record(start: Start) -> None:
    world = start(dispatch="marked")
    world.ask("revoke")
    world.ask("claim", worker="worker-2")
    assert world.say("report", claim=1, ordinal=0, outcome="ok", value="7f") == (409, "fenced")
    assert world.say("close_dispute", ordinal=0) == (200, "dispute_closed")
    assert world.say("reserve", claim=3) == (200, "reserved")
    assert world.say("report", claim=3, ordinal=0, outcome="ok", value="8a") == (200, "settled")
    step = world.job("j")["steps"][0]
    assert not step["disputed"]
    assert [said["value"] for said in step["testimony"]] == ["7f"]


def test_testimony_is_weighed_when_the_step_is_settled(start: Start) -> None:
    world = start()
    world.ask("revoke")
    assert world.states()[0] == "unknown"
    assert world.say("report", claim=1, ordinal=0, outcome="ok", value="7f") == (409, "fenced")
    assert not world.job("j")["disputed"]
    assert world.say("reconcile", ordinal=0, outcome="rejected", evidence=REFUSED) == (200, "settled")
    assert world.job("j")["disputed"]
    assert world.job("j")["result"] == "failed"


def test_a_second_word_on_a_settled_step_disputes_only_what_it_contradicts(start: Start) -> None:
    world = start()
    world.ask("report", claim=1, ordinal=0, outcome="ok", value="a")
    for value, disputed in (("", False), ("a", False), ("b", True)):
        asked = world.say("report", claim=1, ordinal=0, outcome="ok", value=value)
        assert asked == (409, "already_settled")
        assert world.job("j")["disputed"] == disputed
    world.ask("close_dispute", ordinal=0)
    assert world.say("report", claim=1, ordinal=0, outcome="unknown") == (409, "already_settled")
    assert not world.job("j")["disputed"]


def test_worker_evidence_counts_only_from_the_claim_that_reserved(start: Start) -> None:
    world = start()
    world.ask("revoke")
    world.ask("claim", worker="worker-2")
    assert world.say("report", claim=3, ordinal=0, outcome="ok") == (409, "not_evidence")
    refused = {"kind": "receiver_refused", "text": ""}
    assert world.say("report", claim=3, ordinal=0, outcome="ok", evidence=refused) == (409, "not_evidence")
    assert world.say("report", claim=3, ordinal=0, outcome="ok", evidence=CONFIRMED) == (200, "settled")
