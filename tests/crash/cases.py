"""Every command, in the stories in which it writes most. What the same request says when the first one was
carried out and its answer got lost, is PROTOCOL's: the first answer again for an event id, else as written.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from runs import ledger
from runs.commands import operations, spine
from runs.protocol.asks import Operate
from tests.races.pairs import (
    MARKED,
    ONE,
    TWO,
    TWO_MARKED,
    Work,
    a_child,
    a_parent,
    cancel,
    claimed,
    nothing,
    out,
    proposed,
    report,
    submitted,
    then,
)
from tests.races.scene import AGO, CONFIRMED, Scene, spec

REPLAYED = "replayed"
NOTHING_LEFT = "nothing left"


@dataclass(frozen=True)
class Case:
    """`again`: status of the second answer, REPLAYED or NOTHING_LEFT; `ago`: when it was told."""

    name: str
    command: str
    story: Work
    body: dict[str, Any] = field(default_factory=dict)
    again: str = REPLAYED
    job_id: str | None = "j"
    who: str = "w1"
    ago: timedelta = AGO


def sent(scene: Scene) -> None:
    out(ttl_seconds=60, **MARKED)(scene)
    scene.do("dispatch", claim=1, ordinal=0, attempt="a1")


def revoked(scene: Scene) -> None:
    """Its step was out: unknown by now."""
    out()(scene)
    scene.do("revoke")


def disputed(scene: Scene) -> None:
    """Two sources contradict each other: the report stands, a person says otherwise."""
    out()(scene)
    scene.do("report", claim=1, ordinal=0, outcome="ok", value="250")
    refused = {"kind": "receiver_refused", "text": "The receiver answered 550."}
    scene.do("reconcile", who="lena", ordinal=0, outcome="rejected", evidence=refused)


def left_behind(scene: Scene) -> None:
    """The child has ended; nobody has told its parent, whose stop waits for that."""
    then(a_child, cancel("a", "p"))(scene)
    with pytest.MonkeyPatch.context() as crash:
        crash.setattr(spine, "_confirm_ancestors", lambda at: None)
        report("r")(scene)


def a_pass_with_much_to_do(scene: Scene) -> None:
    """A parent behind its child, a lapse, a lapse that confirms a stop, a grace that has ended."""
    left_behind(scene)
    for job_id, cancelled, ttl in (("k", False, 60), ("l", True, 60), ("m", True, 3600)):
        scene.do("submit", job_id, spec=spec(**MARKED))
        scene.do("claim", job_id, ttl_seconds=ttl)
        scene.do("reserve", job_id, claim=1, attempt="a")
        if cancelled:
            scene.do("cancel", job_id, spec_digest=TWO_MARKED, grace_seconds=30)
    scene.do("dispatch", "k", claim=1, ordinal=0, attempt="a")


def two_jobs(scene: Scene) -> None:
    scene.do("submit")
    scene.do("submit", "k")


def an_operation(scene: Scene) -> None:
    two_jobs(scene)
    ask = Operate.model_validate({"event_id": "o", "command": "cancel", "job_ids": ["j", "k"]})
    operations.start(scene.actors["lena"], ask)


def an_ended_operation(scene: Scene) -> None:
    an_operation(scene)
    operations.work_off(ledger.clock())


STEP = {"claim": 1, "ordinal": 0}
RECONCILE = {"ordinal": 0, "outcome": "ok", "value": "by mail", "evidence": CONFIRMED}

CASES = [
    Case("submit", "submit", nothing, again="existing"),
    Case("submit a child", "submit", a_parent, {"spec": spec(parent="p")}, "existing"),
    Case("a blocked submit", "submit", cancel("a", spec=spec()), again="blocked_cancelled"),
    Case("a refused submit", "submit", submitted(), {"spec": spec("Other")}, "conflict"),
    Case("a tombstone", "cancel", nothing, {"spec": spec()}),
    Case("cancel, nothing out", "cancel", submitted(), {"spec_digest": TWO}),
    Case("cancel, a step out", "cancel", out(), {"spec_digest": TWO}),
    Case("cancel, too late", "cancel", then(out(3600, "Send it"), report("r")), {"spec_digest": ONE}),
    Case("cancel, come again", "cancel", cancel("a", spec=spec()), {"event_id": "a", "spec_digest": TWO}),
    Case(
        "cancel, other words under its id",
        "cancel",
        cancel("a", spec=spec()),
        {"event_id": "a", "spec_digest": TWO, "note": "no"},
        "event_conflict",
    ),
    Case("claim", "claim", submitted(), again="claim_held"),
    Case("takeover, unmarked", "claim", out(ttl_seconds=60), again="claim_held"),
    Case("takeover, marked, not sent", "claim", out(ttl_seconds=60, **MARKED), again="claim_held"),
    Case("takeover, marked, sent", "claim", sent, again="claim_held"),
    Case("heartbeat", "heartbeat", then(out(), cancel("a")), {"claim": 1, "heard": 4}, "ok"),
    Case("reserve", "reserve", claimed, {"claim": 1, "attempt": "a"}, "reserved"),
    Case("reserve, no attempt", "reserve", claimed, {"claim": 1}, "inflight"),
    Case("dispatch", "dispatch", out(**MARKED), STEP | {"attempt": "a1"}, "dispatched"),
    Case(
        "dispatch, cancelled",
        "dispatch",
        then(out(**MARKED), cancel("a", spec_digest=TWO_MARKED)),
        STEP | {"attempt": "a1"},
        "not_reserved",
    ),
    Case("report", "report", out(), STEP | {"outcome": "ok"}),
    Case("report, unknown", "report", then(out(), cancel("a")), STEP | {"outcome": "unknown"}),
    Case("report, after the cancel", "report", then(out(), cancel("a")), STEP | {"outcome": "ok"}),
    Case("a child's last report", "report", then(a_child, cancel("a", "p")), STEP | {"outcome": "ok"}),
    Case("report, fenced", "report", revoked, STEP | {"outcome": "ok", "value": "250"}),
    Case("release", "release", then(out(**MARKED), cancel("a", spec_digest=TWO_MARKED)), STEP),
    Case("checkpoint", "checkpoint", left_behind, again="acknowledged", job_id="p"),
    Case("revoke", "revoke", then(out(**MARKED), cancel("a", spec_digest=TWO_MARKED))),
    Case("pause", "pause", submitted()),
    Case("resume", "resume", then(submitted(), lambda scene: scene.do("pause"))),
    Case("observe", "observe", out(), {"ordinal": 0, "evidence": CONFIRMED}, who="lena"),
    Case("reconcile", "reconcile", revoked, RECONCILE, who="lena"),
    Case("reconcile, lapse first", "reconcile", out(ttl_seconds=60), RECONCILE, who="lena"),
    Case(
        "propose",
        "reconcile",
        then(out(queue="books"), report("u", outcome="unknown")),
        RECONCILE,
        who="lena",
    ),
    Case("approve", "approve", proposed, {"proposal": 0}, who="lena"),
    Case("decline", "decline", proposed, {"proposal": 0}, who="lena"),
    Case("close a dispute", "close_dispute", disputed, {"ordinal": 0, "note": "Asked."}, who="lena"),
    Case("seal", "seal", nothing, {"generation": 7}, job_id=None),
    Case("a bulk operation", "operate", two_jobs, {"command": "cancel", "job_ids": ["j", "k"]}),
    Case("abort an operation", "abort", an_operation, who="lena"),
    Case("abort, too late", "abort", an_ended_operation, who="lena"),
    Case("a settle pass", "settle", a_pass_with_much_to_do, again=NOTHING_LEFT),
    Case("a settle pass, an old proposal", "settle", proposed, again=NOTHING_LEFT, ago=timedelta(days=2)),
    Case("a settle pass, an operation", "settle", an_operation, again=NOTHING_LEFT),
    Case("restored", "restored", out(), again=NOTHING_LEFT),
]
