"""A cancel that is passed on to all below (PROTOCOL section 9): each with its own receipt and state."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from runs import settle
from runs.commands import Answer, below, spine
from runs.errors import Invalid, NotAllowed
from runs.models import Grant, Job, Receipt
from runs.protocol.canonical import derived_event_id
from tests.races.scene import Scene, digest, spec

from .test_children import controls, end, family


def cascade(scene: Scene, job_id: str = "a", parent: str | None = None, **asked: Any) -> Answer:
    told = {"spec_digest": digest("Send it", parent=parent), "cause": "user_requested", "cascade": True}
    return scene.do("cancel", job_id, **told | asked)


def out(scene: Scene, job_id: str) -> None:
    scene.do("claim", job_id)
    assert scene.do("reserve", job_id, claim=1).status == "reserved"


def test_each_below_has_its_own_receipt_cause_and_state(scene: Scene) -> None:
    family(scene, "a", "b", "c")
    out(scene, "b")
    answer = cascade(scene, event_id="e-1", note="Wrong list", asked_by="customer-1", grace_seconds=5)
    assert (answer.code, answer.status, answer.fields) == (202, "requested", {"cascaded": 2})
    assert controls(scene) == {"a": "requested", "b": "requested", "c": "acknowledged"}
    for job_id in "bc":
        receipt = Receipt.objects.get(tenant=scene.tenant, event_id=derived_event_id("e-1", job_id))
        assert (receipt.kind, receipt.status, receipt.actor_name) == ("cancel", "requested", "w1")
        row = Job.objects.get(tenant=scene.tenant, job_id=job_id)
        assert (row.cancel_cause, row.cancel_note) == ("parent_cancelled", "Wrong list")
        assert (row.cancel_asked_by, row.grace_until) == ("customer-1", receipt.at + timedelta(seconds=5))
    assert scene.do("heartbeat", "b", claim=1).fields["signal"]["cause"]["code"] == "parent_cancelled"
    scene.do("report", "b", claim=1, ordinal=0, outcome="ok")
    assert set(controls(scene).values()) == {"acknowledged"}


def test_what_is_finished_is_left_alone_unless_there_is_more_below_it(scene: Scene) -> None:
    family(scene, "a", "b", "c")
    scene.do("submit", "d", spec=spec("Send it", parent="a"))
    end(scene, "b")
    end(scene, "d")
    assert cascade(scene).fields == {"cascaded": 2}
    statuses = Receipt.objects.filter(tenant=scene.tenant, kind="cancel").values_list("job_ref", "status")
    assert set(statuses) == {("a", "requested"), ("b", "too_late"), ("c", "requested")}
    assert controls(scene) == {"a": "acknowledged", "b": "run", "c": "acknowledged", "d": "run"}


@pytest.mark.parametrize("status", ["already_requested", "too_late", "spec_conflict"])
def test_it_goes_down_whatever_the_job_itself_is_answered(scene: Scene, status: str) -> None:
    family(scene, "a", "b")
    asked = {}
    if status == "already_requested":
        scene.do("cancel", "a", spec_digest=digest("Send it"))
    elif status == "too_late":
        end(scene, "a")
    else:
        asked = {"spec_digest": "0" * 64}
    answer = cascade(scene, **asked)
    assert (answer.status, answer.fields) == (status, {"cascaded": 1})
    assert controls(scene)["b"] == "acknowledged"
    assert controls(scene)["a"] == ("acknowledged" if status == "already_requested" else "run")


def test_a_replay_says_the_same_and_reaches_nobody(scene: Scene) -> None:
    family(scene, "a", "b")
    first = cascade(scene, "b", "a", event_id="e-1", spec_digest="0" * 64)  # refused: b may have children yet
    scene.do("submit", "c", spec=spec("Send it", parent="b"))
    again = cascade(scene, "b", "a", event_id="e-1", spec_digest="0" * 64)
    assert again.json() == first.json() | {"replayed": True}
    assert (again.fields, controls(scene)["c"]) == ({"cascaded": 0}, "run")
    assert cascade(scene, "b", "a", event_id="e-1").status == "event_conflict"
    assert controls(scene)["c"] == "run"


def test_without_it_children_run_on(scene: Scene) -> None:
    family(scene, "a", "b")
    assert cascade(scene, cascade=False).fields == {"cascaded": 0}
    assert controls(scene) == {"a": "requested", "b": "run"}


@pytest.mark.parametrize("action", ["cancel", "view"])
def test_who_may_not_stop_one_below_stops_none(scene: Scene, action: str) -> None:
    family(scene, "a", "b")
    scene.do("submit", "c", spec=spec("Send it", queue="books", parent="b"))
    user = scene.actors["w1"].user_id
    Grant.objects.create(
        tenant=scene.tenant,
        user_id=user,
        action=action,
        effect="deny",
        scope="queue",
        queue="books",
        not_before=timezone.now() - timedelta(days=9999),
    )
    with pytest.raises(NotAllowed) as refused:
        cascade(scene, event_id="e-1")
    assert refused.value.code == "explicit_deny"
    assert set(controls(scene).values()) == {"run"}
    assert cascade(scene, cascade=False, event_id="e-1").status == "requested", "the event id is still free"


def test_too_many_below_is_422(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(below, "MOST", 2)
    monkeypatch.setattr("runs.commands.locked.MOST", 2)
    family(scene, "a", "b", "c", "d")
    with pytest.raises(Invalid) as refused:
        cascade(scene)
    assert [error.field for error in refused.value.errors] == ["cascade"]
    assert cascade(scene, "b", "a").fields == {"cascaded": 2}


def test_the_settle_loop_confirms_what_a_crash_left_behind(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child's end is committed; the process dies before its ancestors' transactions."""
    family(scene, "a", "b", "c")
    out(scene, "c")
    cascade(scene)
    monkeypatch.setattr(spine, "_confirm_ancestors", lambda at: None)
    scene.do("report", "c", claim=1, ordinal=0, outcome="ok")
    monkeypatch.undo()
    assert controls(scene) == {"a": "requested", "b": "requested", "c": "acknowledged"}
    settle.one_pass()
    assert set(controls(scene).values()) == {"acknowledged"}
