"""One reading of the clock for each transaction, never before the job's last receipt (PROTOCOL section 3)."""

from collections.abc import Callable

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


def test_a_lease_is_judged_by_the_same_reading(scene: Scene, at: At) -> None:
    scene.do("submit")
    scene.do("claim", ttl_seconds=60)
    at(59.999)
    assert scene.do("claim").status == "claim_held"
    at(60)  # at exactly its end it has ended
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
