"""Who ran it does not judge it, and nobody approves their own entry: asked in the command itself."""

from tests.races.scene import CONFIRMED, Scene

ENTRY = {"ordinal": 0, "outcome": "ok", "evidence": CONFIRMED}


def test_who_ran_it_does_not_settle_it(scene: Scene) -> None:
    scene.do("submit")
    scene.do("claim")
    scene.do("reserve", claim=1)
    scene.do("report", claim=1, ordinal=0, outcome="unknown")
    assert scene.told("reconcile", who="w1", **ENTRY) == "403 sod_executor"
    assert scene.do("reconcile", who="lena", **ENTRY).status == "settled"


def test_nobody_approves_their_own_entry_but_may_take_it_back(scene: Scene) -> None:
    scene.do("submit", spec={"queue": "books", "steps": ["Book it"]})
    scene.do("claim")
    scene.do("reserve", claim=1)
    scene.do("report", claim=1, ordinal=0, outcome="unknown")
    proposal = scene.do("reconcile", who="sam", **ENTRY).fields["proposal"]
    assert scene.told("approve", who="sam", proposal=proposal) == "403 same_person"
    assert scene.do("decline", who="sam", proposal=proposal).status == "declined"
    proposal = scene.do("reconcile", who="sam", **ENTRY).fields["proposal"]
    assert scene.do("approve", who="lena", proposal=proposal).status == "settled"
