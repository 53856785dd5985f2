"""An event id binds its content for ever (PROTOCOL section 3), and tells nobody what they may not see."""

import json

import pytest

from runs.errors import NotAllowed
from runs.models import Delivery, Grant, Receipt
from tests.races.pairs import Lose
from tests.races.scene import LONG_AGO, Scene, digest

COUNTED = ("event_id", "replays", "conflicts")


def test_the_first_words_again_whatever_has_happened_since(scene: Scene) -> None:
    scene.do("submit")
    scene.do("claim")
    scene.do("reserve", claim=1)
    first = scene.do("cancel", event_id="c", spec_digest=digest())
    scene.do("report", claim=1, ordinal=0, outcome="ok")
    again = scene.do("cancel", event_id="c", spec_digest=digest())
    assert (first.code, first.status, first.replayed) == (202, "requested", False)
    assert (again.code, again.status, again.replayed) == (202, "requested", True)
    assert (again.receipt, again.fields) == (first.receipt, first.fields)
    other = scene.do("cancel", event_id="c", spec_digest=digest(), note="again")
    assert (other.code, other.status, other.receipt) == (409, "event_conflict", None)
    assert Receipt.objects.filter(event_id="c").count() == 1
    assert list(Delivery.objects.values_list(*COUNTED)) == [("c", 1, 1)]


def test_a_claim_is_bound_by_its_fence(scene: Scene) -> None:
    scene.do("submit")
    scene.do("claim")
    scene.do("reserve", claim=1)
    scene.do("revoke")
    scene.do("claim")
    said = {"event_id": "r", "ordinal": 0, "outcome": "ok"}
    assert scene.do("report", claim=1, **said).status == "fenced"
    assert scene.do("report", claim=1, **said).replayed
    assert scene.do("report", claim=2, **said).status == "event_conflict"
    assert scene.do("report", claim="1-" + "0" * 32, **said).status == "event_conflict"
    forged = said | {"event_id": "f"}
    assert scene.do("report", claim="1-" + "0" * 32, **forged).status == "claim_lost"
    assert scene.do("report", claim="anything", **forged).replayed, "never issued is fence 0"
    assert json.loads(Receipt.objects.get(event_id="f").body)["claim"] == 0


def test_one_id_in_two_jobs_and_in_two_commands(scene: Scene) -> None:
    scene.do("submit", "j")
    scene.do("submit", "k")
    assert scene.do("pause", "j", event_id="e").status == "paused"
    assert scene.do("pause", "k", event_id="e").status == "event_conflict"
    assert scene.do("resume", "j", event_id="e").status == "event_conflict"
    assert scene.do("seal", None, event_id="e", generation=3).status == "event_conflict"
    assert scene.do("report", "x", event_id="e", claim="c", ordinal=0, outcome="ok").status == (
        "event_conflict"
    )


@pytest.mark.parametrize("event_id", ["c", "free"])
def test_what_was_said_of_a_job_is_not_told_to_who_may_not_see_it(scene: Scene, event_id: str) -> None:
    """An invisible job answers as one that there is not: its receipts come back to nobody who guesses."""
    scene.do("submit")
    scene.do("cancel", event_id="c", spec_digest=digest(), cause="user_requested")
    ask = {"event_id": event_id, "spec_digest": digest(), "cause": "user_requested"}
    for job_id in ("j", "nowhere"):
        Grant.objects.create(
            tenant=scene.tenant,
            user_id=scene.actors["sam"].user_id,
            action="view",
            effect="deny",
            scope="job",
            job=job_id,
            not_before=LONG_AGO,
        )
    seen, missing = (scene.do("cancel", job_id, "sam", **ask) for job_id in ("j", "nowhere"))
    assert (seen.code, seen.status, seen.receipt) == (missing.code, missing.status, None)
    assert seen.status == ("event_conflict" if event_id == "c" else "spec_required")


def test_who_may_no_longer_do_it_is_told_so_before_the_id_is_looked_at(scene: Scene) -> None:
    scene.do("submit")
    scene.do("cancel", event_id="c", spec_digest=digest())
    Lose("cancel")(scene)
    for other_words in ({}, {"note": "other words"}):
        with pytest.raises(NotAllowed):
            scene.do("cancel", event_id="c", spec_digest=digest(), **other_words)
    assert not Delivery.objects.exists(), "it was no replay, and no conflict"
