"""Bulk operations: a frozen list, each job judged and answered by itself, nothing twice, an abort."""

import json
import signal
import subprocess
import sys
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from runs import ledger
from runs.commands import operations
from runs.errors import FieldError, Invalid, NotAllowed, NotVisible
from runs.models import Delivery, Grant, Job, Operation, OperationJob, Receipt, User
from runs.permissions import Actor
from runs.protocol.asks import Abort, Operate
from runs.protocol.canonical import digest
from runs.queries import operations as queries
from tests.races.scene import LONG_AGO, Scene
from tests.support.databases import Database

STANDING = {"scope": "tenant", "not_before": LONG_AGO}
FIVE = [f"j{n}" for n in range(5)]


def with_jobs(scene: Scene, *job_ids: str) -> Scene:
    for job_id in job_ids:
        scene.do("submit", job_id)
    return scene


def operate(scene: Scene, who: str = "lena", event_id: str = "op", **body: Any) -> str:
    body = {"command": "cancel", "cause": "operator_requested"} | body
    answer = operations.start(scene.actors[who], Operate.model_validate({"event_id": event_id, **body}))
    assert (answer.code, answer.status) == (202, "accepted")
    return str(answer.fields["operation"]["operation_id"])


def abort(scene: Scene, operation: str, who: str = "lena", event_id: str = "stop") -> str:
    return operations.abort(scene.actors[who], Abort(event_id=event_id, operation=operation)).status


def work() -> dict[str, int]:
    return dict(operations.work_off(ledger.clock()))


def statuses(operation: str) -> dict[str, str]:
    rows = OperationJob.objects.filter(operation__operation_id=operation).order_by("position")
    return dict(rows.values_list("job_ref", "status"))


def person(scene: Scene, name: str, *rights: dict[str, Any]) -> None:
    user = User.objects.create(username=f"{scene.tenant.name}/{name}", name=name, tenant=scene.tenant)
    for right in rights:
        Grant.objects.create(tenant=scene.tenant, user=user, **STANDING | right)
    scene.actors[name] = Actor.of_user(user)


def test_each_job_is_answered_by_itself_under_its_derived_event_id(scene: Scene) -> None:
    with_jobs(scene, "a", "b", "c")
    scene.do("cancel", "b", "lena", spec_digest=Job.objects.get(job_id="b").spec_digest)
    operation = operate(scene, job_ids=["c", "b", "nowhere", "a"])
    assert not Receipt.objects.filter(kind="cancel", job_ref="a").exists(), "nothing is asked at once"
    work()
    expected = {"c": "requested", "b": "already_requested", "nowhere": "spec_required", "a": "requested"}
    assert statuses(operation) == expected
    asked = Receipt.objects.get(event_id="~" + digest(["op", "a"]))
    assert (asked.kind, asked.status, asked.actor_name) == ("cancel", "requested", "lena")
    assert Job.objects.get(job_id="a").cancel_cause == "operator_requested"
    shown = queries.one(scene.actors["lena"], operation, 0, 50)
    assert (shown["state"], shown["answered"], shown["answers"]["requested"]) == ("done", 4, 2)
    assert [job["job_id"] for job in shown["list"]] == ["c", "b", "a"]


def test_the_list_is_frozen_when_it_is_taken_on(scene: Scene) -> None:
    with_jobs(scene, "a", "b")
    operation = operate(scene, filter={"queue": "mail", "control": "run"})
    scene.do("submit", "late")
    work()
    assert list(statuses(operation)) == ["a", "b"]
    assert Job.objects.get(job_id="late").control == "run"
    receipt = Receipt.objects.get(event_id="op")
    detail = json.loads(receipt.detail)
    assert (receipt.kind, receipt.job_id, receipt.seq, receipt.prev_digest) == ("operate", None, None, "")
    assert (detail["jobs"], detail["list_digest"]) == (2, digest(["a", "b"]))


def test_each_job_is_judged_for_the_asker_at_its_turn(scene: Scene) -> None:
    with_jobs(scene, "a", "b", "c")
    person(
        scene,
        "omar",
        {"action": "view"},
        {"action": "cancel"},
        {"action": "cancel", "effect": "deny", "scope": "job", "job": "b"},
        {"action": "view", "effect": "deny", "scope": "job", "job": "c"},
    )
    operation = operate(scene, "omar", job_ids=["a", "b", "c"])
    Grant.objects.filter(user__name="omar", action="cancel", effect="allow").update(revoked_at=ledger.clock())
    work()
    assert statuses(operation) == {"a": "no_grant", "b": "explicit_deny", "c": "not_found"}
    assert set(Job.objects.values_list("control", flat=True)) == {"run"}


def test_who_may_cancel_nothing_may_not_begin_and_uses_up_no_event_id(scene: Scene) -> None:
    with_jobs(scene, "a")
    person(scene, "sam2", {"action": "view"})
    with pytest.raises(NotAllowed) as refused:
        operate(scene, "sam2", job_ids=["a"])
    assert refused.value.code == "no_grant"
    assert not Receipt.objects.filter(event_id="op").exists()


def test_the_same_again_is_a_replay_and_other_content_a_conflict(scene: Scene) -> None:
    with_jobs(scene, "a", "b")
    operation = operate(scene, job_ids=["a"])
    ask = {"event_id": "op", "command": "cancel", "cause": "operator_requested"}
    again = operations.start(scene.actors["lena"], Operate.model_validate(ask | {"job_ids": ["a"]}))
    assert (again.code, again.status, again.replayed) == (202, "accepted", True)
    assert again.fields["operation"]["operation_id"] == operation
    other = operations.start(scene.actors["lena"], Operate.model_validate(ask | {"job_ids": ["b"]}))
    assert (other.code, other.status, other.receipt) == (409, "event_conflict", None)
    assert scene.told("pause", "a", "lena", event_id="op").startswith(
        '409 {"replayed": false, "status": "event'
    )
    assert Operation.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"job_ids": ["a"], "cause": "work_finished"}, "cause"),
        ({"job_ids": ["a"], "cause": "nonsense"}, "cause"),
        ({"filter": {"headline": "nonsense"}}, "filter.headline"),
    ],
)
def test_what_only_the_database_knows_to_be_wrong(scene: Scene, body: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as wrong:
        operate(scene, **body)
    assert [type(error) for error in wrong.value.errors] == [FieldError]
    assert wrong.value.errors[0].field == field


@pytest.mark.parametrize(
    "body",
    [{}, {"job_ids": []}, {"job_ids": ["a", "a"]}, {"filter": {}}, {"job_ids": ["a"], "filter": {"q": "a"}}],
)
def test_it_must_say_which_jobs(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"job_ids|filter"):
        Operate.model_validate({"event_id": "op", "command": "cancel"} | body)


def test_more_than_ten_thousand_are_refused(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "MOST", 2)
    with_jobs(scene, "a", "b")
    operate(scene, event_id="two", filter={"queue": "mail"})
    scene.do("submit", "c")
    with pytest.raises(Invalid, match="more than 2"):
        operate(scene, filter={"queue": "mail"})


def test_an_abort_ends_the_asking_and_leaves_what_was_asked(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "AT_ONCE", 2)
    with_jobs(scene, *FIVE)
    operation = operate(scene, job_ids=FIVE)
    work()
    assert abort(scene, operation) == "aborted"
    work()
    assert list(statuses(operation).values()) == ["requested", "requested", "", "", ""]
    assert abort(scene, operation, event_id="stop2") == "already_ended"
    shown = queries.one(scene.actors["lena"], operation, 0, 50)
    assert (shown["state"], shown["aborted_by"], shown["answered"]) == ("aborted", "lena", 2)


def test_who_may_abort_and_who_sees_it(scene: Scene) -> None:
    with_jobs(scene, "a")
    person(scene, "viewer", {"action": "view"})
    person(scene, "nobody")
    operation = operate(scene, job_ids=["a"])
    with pytest.raises(NotAllowed):
        abort(scene, operation, "viewer")
    with pytest.raises(NotVisible):
        abort(scene, operation, "nobody")
    with pytest.raises(NotVisible):
        queries.one(scene.actors["nobody"], operation, 0, 50)
    assert queries.listed(scene.actors["nobody"], None, 50)["operations"] == []
    assert [
        each["operation_id"] for each in queries.listed(scene.actors["viewer"], None, 50)["operations"]
    ] == [operation]
    assert abort(scene, operation, "sam") == "aborted", "who may cancel every job may stop it"


def test_the_database_keeps_what_was_asked_and_each_answer(scene: Scene) -> None:
    with_jobs(scene, "a", "b")
    operate(scene, job_ids=["a", "b"])
    work()
    changes = [
        lambda: Operation.objects.update(note="other"),
        lambda: OperationJob.objects.update(status="failed"),
        lambda: OperationJob.objects.all()._raw_delete("default"),
        lambda: Operation.objects.all()._raw_delete("default"),
    ]
    for change in changes:
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            change()


def killed_pass(database: Database) -> None:
    command = [sys.executable, "-m", "tests.commands.killed"]
    ended = subprocess.run(command, env=database.environment, timeout=100, check=False, capture_output=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()


def cancels() -> list[tuple[str | None, str]]:
    return sorted(Receipt.objects.filter(kind="cancel").values_list("job_ref", "status"))


def test_a_killed_loop_repeats_nothing(real_db: Database) -> None:
    scene = with_jobs(Scene(), *FIVE)
    operation = operate(scene, job_ids=FIVE)
    killed_pass(real_db)
    assert list(statuses(operation).values()) == ["requested", "requested", "", "", ""]
    assert len(cancels()) == 3, "the third was answered; only nobody wrote it down"
    work()
    assert list(statuses(operation).values()) == ["requested"] * 5
    assert cancels() == [(job, "requested") for job in FIVE]
    assert list(Delivery.objects.values_list("event_id", "replays")) == [("~" + digest(["op", "j2"]), 1)]


def test_what_a_killed_loop_had_asked_is_told_after_an_abort(real_db: Database) -> None:
    scene = with_jobs(Scene(), *FIVE)
    operation = operate(scene, job_ids=FIVE)
    killed_pass(real_db)
    abort(scene, operation)
    work()
    assert list(statuses(operation).values()) == ["requested", "requested", "requested", "", ""]
    assert len(cancels()) == 3
