"""One reading of the clock for each transaction, never before the job's last receipt (PROTOCOL section 3)."""

from collections.abc import Callable
from typing import Any

import pytest

from runs import ledger, settle
from runs.models import Job, Receipt
from tests.races.scene import Scene

from .conftest import NOON

At = Callable[[float], None]


def test_a_clock_that_steps_back_never_dates_a_receipt_before_the_last(scene: Scene, at: At) -> None:
    at(100)
    scene.do("submit")
    scene.do("claim", ttl_seconds=60)
    at(10)  # a minute and a half back
    scene.do("reserve", claim=1)
    scene.do("pause")
    times = list(Receipt.objects.order_by("seq").values_list("at", flat=True))
    assert times == sorted(times)
    assert [(time - NOON).total_seconds() for time in times] == [100] * 4


#: A lease of a minute, a microsecond before its end and at exactly its end: what each is told then.
JUST_BEFORE, AT_THE_END = 60 - 1e-6, 60
BY_THE_LEASE = {
    "claim": ("claim_held", "claimed"),
    "reconcile": ("still_claimed", "settled"),
    "lapse": ("not_lapsed", "lapsed"),
    "heartbeat": ("ok", "ok"),  # the newest token comes alive again, as long as nobody has taken over
    "report": ("settled", "settled"),
}


@pytest.mark.parametrize("command", BY_THE_LEASE)
def test_at_exactly_its_end_a_lease_has_ended(scene: Scene, at: At, command: str) -> None:
    who, body = "lena" if command == "reconcile" else "w1", BODIES[command]
    for seconds, job_id, status in zip((JUST_BEFORE, AT_THE_END), "jk", BY_THE_LEASE[command], strict=True):
        at(0)
        scene.do("submit", job_id)
        scene.do("claim", job_id, ttl_seconds=60)
        scene.do("reserve", job_id, claim=1)
        at(seconds)
        assert scene.do(command, job_id, who, **body).status == status


def test_a_settle_pass_lapses_a_lease_at_exactly_its_end(scene: Scene, at: At) -> None:
    scene.do("submit")
    scene.do("claim", ttl_seconds=60)
    scene.do("reserve", claim=1)
    at(JUST_BEFORE)
    assert list(settle.due(ledger.clock())) == []
    at(AT_THE_END)
    assert [(job.job_id, ask.kind) for job, ask in settle.due(ledger.clock())] == [("j", "lapse")]


def test_a_clock_that_steps_back_never_shortens_a_lease(scene: Scene, at: At) -> None:
    at(100)
    scene.do("submit")
    scene.do("claim", ttl_seconds=60)
    at(10)
    scene.do("heartbeat", claim=1)
    scene.do("reserve", claim=1)
    at(159)
    assert scene.do("claim").status == "claim_held"
    at(160)
    assert scene.do("claim").status == "claimed"


def test_a_lease_that_ended_by_a_receipt_does_not_come_back_with_the_clock(scene: Scene, at: At) -> None:
    scene.do("submit")
    scene.do("claim", ttl_seconds=60)
    scene.do("reserve", claim=1)
    at(100)
    assert scene.do("reconcile", who="lena", ordinal=0, outcome="ok", evidence=SEEN).status == "settled"
    at(30)
    assert scene.do("claim").status == "claimed", "the lease had ended by the job's last receipt"
    assert Job.objects.get().fence == 2


def test_a_lapse_that_is_due_is_a_receipt_of_its_own_before_the_reconcile(scene: Scene, at: At) -> None:
    scene.do("submit")
    scene.do("claim", ttl_seconds=60)
    scene.do("reserve", claim=1)
    at(100)
    scene.do("reconcile", who="lena", ordinal=0, outcome="ok", evidence=SEEN)
    kinds = list(Receipt.objects.order_by("seq").values_list("kind", flat=True))
    assert kinds == ["submit", "claim", "reserve", "lapse", "reconcile"]


SEEN = {"kind": "receiver_confirmed", "text": "In the log."}
BODIES: dict[str, dict[str, Any]] = {
    "claim": {},
    "reconcile": {"ordinal": 0, "outcome": "ok", "evidence": SEEN},
    "lapse": {},
    "heartbeat": {"claim": 1},
    "report": {"claim": 1, "ordinal": 0, "outcome": "ok"},
}
