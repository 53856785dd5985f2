"""The first time that a signal was heard counts (PROTOCOL section 7), whatever order the words come in."""

from collections.abc import Callable

from runs.commands import do
from runs.models import Job
from runs.permissions import Actor
from runs.protocol.asks import Escalate
from tests.races.scene import Scene, digest

from .conftest import NOON

At = Callable[[float], None]


def heard(scene: Scene, seq: int | None) -> tuple[int | None, float | None]:
    scene.do("heartbeat", claim=1, heard=seq)
    job = Job.objects.get()
    return job.heard_seq, job.heard_at and (job.heard_at - NOON).total_seconds()


def test_a_late_word_of_an_earlier_signal_changes_nothing(scene: Scene, at: At) -> None:
    scene.do("submit")
    scene.do("claim")
    scene.do("reserve", claim=1)
    pause = scene.do("pause").receipt
    assert pause
    at(1)
    assert heard(scene, pause["seq"]) == (4, 1)
    stop = scene.do("cancel", spec_digest=digest(), grace_seconds=10).receipt
    assert stop
    at(2)
    assert heard(scene, 4) == (4, 1), "the pause is no signal any more"
    assert heard(scene, stop["seq"]) == (5, 2)
    at(3)
    assert heard(scene, 5) == (5, 2)
    at(11)
    assert do(Actor.system(scene.tenant), "j", Escalate()).status == "escalated"
    assert heard(scene, 6) == (6, 11)
    at(12)
    assert heard(scene, 5) == (6, 11), "a heartbeat that was long on its way"
    assert heard(scene, 7) == heard(scene, -1) == heard(scene, 2**53 - 1) == heard(scene, None) == (6, 11)
