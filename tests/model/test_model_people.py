"""The model tells PROTOCOL.md's stories of people, stops and the clock; the words are the page's."""

from collections.abc import Callable
from typing import Any

import pytest

from .commands import QUEUES
from .told import CONFIRMED, REFUSED, Told, spec

pytestmark = pytest.mark.pure

Start = Callable[..., Told]


def test_a_cancel_before_the_submit_is_a_tombstone() -> None:
    world = Told(QUEUES)
    assert world.say("cancel", spec_digest="0" * 64) == (422, "spec_required")
    assert world.say("cancel", spec=spec()) == (201, "tombstoned")
    assert world.say("submit", spec=spec()) == (409, "blocked_cancelled")
    assert world.say("submit", spec=spec(steps=3)) == (409, "conflict")
    assert world.say("cancel", spec=spec()) == (200, "already_requested")
    assert world.say("claim", worker="w") == (409, "not_admitted")
    assert world.say("report", claim=0, ordinal=0, outcome="ok") == (409, "not_admitted")
    assert (world.job("j")["headline"], world.job("j")["blocked_submits"]) == ("blocked_before_start", 1)


def test_too_late_leaves_control_at_run(start: Start) -> None:
    world = start(steps=1)
    assert world.say("report", claim=1, ordinal=0, outcome="ok") == (200, "settled")
    assert world.say("cancel", spec=spec(steps=1)) == (200, "too_late")
    assert (world.job("j")["control"], world.job("j")["headline"]) == ("run", "completed_cancel_too_late")


def test_reconcile_waits_for_the_claim_unless_it_said_unknown(start: Start) -> None:
    world = start()
    asked: dict[str, Any] = {"ordinal": 0, "outcome": "ok", "evidence": CONFIRMED}
    assert world.say("reconcile", **asked) == (409, "still_claimed")
    assert world.say("report", claim=1, ordinal=0, outcome="unknown") == (200, "unresolved")
    assert world.say("reconcile", **asked) == (200, "settled")


def test_reconcile_writes_the_lapse_first(start: Start) -> None:
    world = start()
    asked: dict[str, Any] = {"ordinal": 0, "outcome": "ok", "evidence": CONFIRMED}
    assert world.say("reconcile", now=90, **asked) == (200, "settled")
    assert world.kinds()[-2:] == ["lapse lapsed", "reconcile settled"]
    marked = start(dispatch="marked")
    assert marked.say("reconcile", now=90, **asked) == (409, "still_claimed")
    marked.ask("cancel", spec=spec(dispatch="marked"))
    assert marked.say("reconcile", **asked) == (409, "not_reserved")
    assert marked.kinds()[-3:] == ["lapse lapsed", "reconcile not_reserved", "checkpoint acknowledged"]


def test_two_people(start: Start) -> None:
    world = start(queue="ledger", steps=1)
    world.ask("revoke")
    asked: dict[str, Any] = {"ordinal": 0, "outcome": "ok", "evidence": CONFIRMED}
    made = world.ask("reconcile", who="sam", **asked)
    assert (made.http, made.status) == (202, "proposed")
    assert world.say("reconcile", who="lena", **asked) == (409, "waiting")
    assert world.say("approve", who="sam", proposal=1) == (403, "same_person")
    assert world.say("approve", who="lena", proposal=2) == (404, None)
    assert world.say("approve", who="lena", proposal=1) == (200, "settled")
    assert world.say("approve", who="lena", proposal=1) == (409, "already_decided")
    assert world.job("j")["headline"] == "completed"


def test_a_proposal_ends_by_change_by_age_or_by_its_maker(start: Start) -> None:
    world = start(queue="shop")
    world.ask("revoke")
    asked: dict[str, Any] = {"ordinal": 0, "outcome": "rejected", "evidence": REFUSED}
    world.ask("reconcile", who="sam", **asked)
    assert world.say("report", claim=1, ordinal=0, outcome="ok") == (409, "fenced")
    assert world.say("approve", who="lena", proposal=1) == (409, "superseded")
    assert world.say("reconcile", who="sam", **asked) == (202, "proposed")
    assert world.say("decline", who="sam", proposal=2) == (200, "declined")
    assert world.say("reconcile", who="sam", **asked) == (202, "proposed")
    assert world.say("approve", who="lena", proposal=3, now=24 * 3600) == (409, "expired")
    assert world.say("reconcile", who="verifier:smtp", **asked) == (200, "settled")


def test_an_event_id_binds_its_content_for_ever() -> None:
    world = Told(QUEUES)
    said: dict[str, Any] = {"event_id": "e", "claim": 0, "ordinal": 0, "outcome": "ok"}
    first = world.do("report", job_id="j", **said)
    assert (first.http, first.status, first.receipt_kept) == (409, "not_admitted", True)
    world.ask("submit", spec=spec())
    again = world.do("report", job_id="j", **said)
    assert (again.http, again.status, again.replayed) == (409, "not_admitted", True)
    assert world.do("report", job_id="j", **said | {"ordinal": 1}).status == "event_conflict"
    assert world.do("pause", job_id="j", event_id="e").status == "event_conflict"
    assert world.say("pause", "nowhere") == (404, None)


def test_a_parent_is_confirmed_when_no_child_is_unfinished(start: Start) -> None:
    world = start(steps=1)
    child, grandchild = spec(steps=1, parent="j"), spec(steps=1, parent="child")
    assert world.say("submit", "child", spec=child) == (201, "admitted")
    assert world.say("submit", "grandchild", spec=grandchild) == (201, "admitted")
    world.ask("report", claim=1, ordinal=0, outcome="unknown")
    assert world.say("cancel", spec=spec(steps=1)) == (202, "requested")
    assert world.say("submit", "late", spec=child) == (409, "parent_closed")
    assert world.say("checkpoint") == (200, "unknown")
    world.ask("reconcile", ordinal=0, outcome="ok", evidence=CONFIRMED)
    assert world.ask("checkpoint").fields == {"children": 1}
    assert world.say("cancel", "child", spec=child) == (202, "requested")
    assert world.job("child")["headline"] == "stopping"
    assert world.say("cancel", "grandchild", spec=grandchild) == (202, "requested")
    assert world.kinds("child")[-1] == world.kinds()[-1] == "checkpoint acknowledged"
    assert world.job("j")["headline"] == "completed_despite_cancel"


def test_a_finished_child_is_unfinished_while_its_own_child_is(start: Start) -> None:
    world = start(steps=1)
    world.ask("submit", "child", spec=spec(steps=1, parent="j"))
    world.ask("submit", "grandchild", spec=spec(steps=1, parent="child"))
    for job_id in ("child", "grandchild"):
        world.ask("claim", job_id, worker="worker-1")
        world.ask("reserve", job_id, claim=1)
    world.ask("report", claim=1, ordinal=0, outcome="ok")
    assert world.say("cancel", spec=spec(steps=1)) == (200, "too_late")
    assert world.say("report", "child", claim=1, ordinal=0, outcome="ok") == (200, "settled")
    assert world.job("j")["children_unfinished"] == 1
    assert world.say("report", "grandchild", claim=1, ordinal=0, outcome="ok") == (200, "settled")
    assert world.job("j")["children_unfinished"] == 0


def test_tombstones_may_name_one_another_in_a_ring() -> None:
    world = Told(QUEUES)
    for job_id, parent in (("a", "b"), ("b", "a"), ("c", "c")):
        assert world.say("cancel", job_id, spec=spec(parent=parent)) == (201, "tombstoned")
        assert world.job(job_id)["children_unfinished"] == 0


def test_pause_is_history_after_the_cancel(start: Start) -> None:
    world = start()
    assert world.say("pause", cause="paused_by_user") == (200, "paused")
    assert world.say("pause") == (200, "already_paused")
    assert world.ask("heartbeat", claim=1).fields["signal"]["level"] == "pause"
    world.ask("report", claim=1, ordinal=0, outcome="ok")
    assert world.say("reserve", claim=1) == (200, "paused")
    world.ask("cancel", spec=spec())
    assert world.say("resume") == (409, "too_late")
    assert world.job("j")["paused"]


def test_the_grace_ends_in_abort(start: Start) -> None:
    world = start()
    world.ask("cancel", spec=spec(), cause="goal_met", grace_seconds=60)
    world.settle(now=59)
    assert world.ask("heartbeat", claim=1).fields["signal"]["level"] == "stop"
    world.settle(now=60)
    told = world.ask("heartbeat", claim=1).fields["signal"]
    assert (told["level"], told["cause"], told["original_cause"]) == (
        "abort",
        "settle_drain_timeout",
        "goal_met",
    )


def test_a_prefix_keeps_strangers_out() -> None:
    world = Told(QUEUES)
    assert world.say("submit", "vip-1", spec=spec()) == (409, "wrong_queue")
    assert world.say("submit", "j", spec=spec(queue="vip")) == (409, "wrong_queue")
    assert world.say("cancel", "vip-1", spec=spec()) == (409, "wrong_queue")
    assert world.say("submit", "vip-1", spec=spec(queue="vip")) == (201, "admitted")


def test_a_sealed_generation_takes_no_unknown_job() -> None:
    world = Told(QUEUES)
    assert world.say("submit", "known@3", spec=spec()) == (201, "admitted")
    assert world.do("seal", event_id="s", generation=3).fields == {"sealed_generation": 3}
    assert world.do("seal", event_id="s2", generation=2).status == "already_sealed"
    bodies: dict[str, Any] = {"submit": {"spec": spec()}, "cancel": {"spec_digest": "0"}, "heartbeat": {}}
    for kind, body in bodies.items():
        assert world.say(kind, "new@3", **body) == (409, "sealed")
        assert world.say(kind, "new", **body) == (409, "sealed")
    assert world.say("submit", "new@4", spec=spec()) == (201, "admitted")
    assert world.say("submit", "known@3", spec=spec()) == (200, "existing")
