"""A proposal is bound to the step's version (PROTOCOL section 4): what makes it old, and what not."""

from collections.abc import Callable

import pytest

from runs.models import Step
from tests.races.scene import CONFIRMED, REFUSED, Scene, digest, spec

At = Callable[[float], None]


def proposed(scene: Scene, at: At) -> None:
    """The first step of a job that asks for two people is unknown; sam has entered ok."""
    scene.do("submit", spec=spec(queue="books"))
    scene.do("claim", ttl_seconds=60)
    scene.do("reserve", claim=1)
    scene.do("report", claim=1, ordinal=0, outcome="unknown")
    entered = scene.do("reconcile", who="sam", ordinal=0, outcome="ok", value="v", evidence=CONFIRMED)
    assert (entered.code, entered.status) == (202, "proposed")


NOTHING: dict[str, Callable[[Scene, At], object]] = {
    "a heartbeat": lambda s, at: s.do("heartbeat", claim=1),
    "unknown again": lambda s, at: s.do("report", claim=1, ordinal=0, outcome="unknown"),
    "an observation": lambda s, at: s.do("observe", who="lena", ordinal=0, evidence=CONFIRMED),
    "a pause": lambda s, at: s.do("pause"),
    "a cancel": lambda s, at: s.do("cancel", spec_digest=digest(queue="books")),
    "a takeover": lambda s, at: (at(70), s.do("claim")),
    "a revoke": lambda s, at: s.do("revoke"),
    "a refused report": lambda s, at: s.do("report", claim=1, ordinal=1, outcome="ok"),
    "another entry": lambda s, at: s.do(
        "reconcile", who="lena", ordinal=0, outcome="rejected", evidence=REFUSED
    ),
}


@pytest.mark.parametrize("meanwhile", NOTHING.values(), ids=NOTHING)
def test_what_leaves_the_step_as_it_was_leaves_the_proposal(
    scene: Scene, at: At, meanwhile: Callable[[Scene, At], object]
) -> None:
    proposed(scene, at)
    meanwhile(scene, at)
    approved = scene.do("approve", who="lena", proposal=scene.proposals[0])
    assert (approved.status, Step.objects.get(ordinal=0).value) == ("settled", "v")


def late_word(scene: Scene, at: At) -> None:
    scene.do("revoke")
    assert scene.do("report", claim=1, ordinal=0, outcome="ok", value="w").status == "fenced"


def settled(scene: Scene, at: At) -> None:
    assert scene.do("report", claim=1, ordinal=0, outcome="ok", value="w").status == "settled"


@pytest.mark.parametrize("meanwhile", [late_word, settled])
def test_what_changes_it_makes_the_proposal_old(
    scene: Scene, at: At, meanwhile: Callable[[Scene, At], None]
) -> None:
    proposed(scene, at)
    meanwhile(scene, at)
    for command in ("approve", "decline"):
        late = scene.do(command, who="lena", proposal=scene.proposals[0])
        assert (late.code, late.status) == (409, "superseded")
    at(86_400)
    assert scene.do("approve", who="lena", proposal=scene.proposals[0]).status == "expired"


def test_after_testimony_there_is_room_for_a_new_entry(scene: Scene, at: At) -> None:
    proposed(scene, at)
    late_word(scene, at)
    entered = scene.do("reconcile", who="lena", ordinal=0, outcome="rejected", evidence=REFUSED)
    assert entered.status == "proposed"
    assert scene.do("approve", who="sam", proposal=scene.proposals[1]).status == "settled"
    step = Step.objects.get(ordinal=0)
    assert (step.state, step.disputed) == ("rejected", True), "the testimony says that it happened"
