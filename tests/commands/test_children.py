"""Children (PROTOCOL section 9): who counts, and who is confirmed when the last of them ends."""

import pytest

from runs.models import Job
from tests.races.scene import Scene, digest, spec


def family(scene: Scene, *names: str) -> None:
    """Each the child of the one before it, each with one step."""
    for parent, name in zip((None, *names), names, strict=False):
        assert scene.do("submit", name, spec=spec("Send it", parent=parent)).status == "admitted"


def end(scene: Scene, job_id: str) -> None:
    scene.do("claim", job_id)
    scene.do("reserve", job_id, claim=1)
    assert scene.do("report", job_id, claim=1, ordinal=0, outcome="ok").status == "settled"


def stop(scene: Scene, job_id: str, parent: str | None = None) -> str:
    return scene.do("cancel", job_id, spec_digest=digest("Send it", parent=parent)).status


def controls(scene: Scene) -> dict[str, str]:
    return dict(Job.objects.filter(tenant=scene.tenant).values_list("job_id", "control"))


def test_the_last_below_confirms_all_above(scene: Scene) -> None:
    """Over a child that has ended itself, and one that waits: each in a transaction of its own."""
    family(scene, "a", "b", "c", "d")
    end(scene, "b")
    assert [stop(scene, "a"), stop(scene, "c", "b")] == ["requested"] * 2
    assert scene.do("checkpoint", "a").fields == {"children": 1}
    assert scene.do("checkpoint", "c").fields == {"children": 1}
    end(scene, "d")
    assert controls(scene) == {"a": "acknowledged", "b": "run", "c": "acknowledged", "d": "run"}


def test_a_child_that_only_stops_confirms_its_parent_too(scene: Scene) -> None:
    family(scene, "a", "b")
    assert stop(scene, "a") == "requested"
    assert stop(scene, "b", "a") == "requested"
    assert controls(scene) == {"a": "acknowledged", "b": "acknowledged"}


def test_tombstones_are_nobodys_unfinished_children(scene: Scene) -> None:
    """In a ring too: a tombstone keeps only the name of its parent."""
    family(scene, "a")
    for child, parent in (("t", "a"), ("x", "y"), ("y", "x"), ("z", "z")):
        named = spec("Send it", parent=parent)
        assert scene.do("cancel", child, spec=named).status == "tombstoned"
        assert scene.do("submit", child, spec=named).status == "blocked_cancelled"
    assert stop(scene, "a") == "requested"
    assert controls(scene)["a"] == "acknowledged"
    assert scene.do("checkpoint", "x").status == "acknowledged"


@pytest.mark.parametrize(
    ("parent", "status"),
    [("nowhere", "parent_missing"), ("c", "parent_missing"), ("t", "parent_closed"), ("s", "parent_closed")],
)
def test_a_parent_must_be_there_and_open(scene: Scene, parent: str, status: str) -> None:
    """A job is not its own parent; a tombstone, and one that was stopped, take no children."""
    scene.do("cancel", "t", spec=spec())
    family(scene, "s")
    stop(scene, "s")
    refused = scene.do("submit", "c", spec=spec(parent=parent))
    assert (refused.code, refused.status, refused.receipt) == (409, status, None)


def test_eight_below_the_first_and_no_more(scene: Scene) -> None:
    family(scene, *"abcdefghi")
    assert scene.do("submit", "j", spec=spec(parent="i")).status == "too_deep"
    assert stop(scene, "a") == "requested"
    end(scene, "i")
    assert controls(scene)["a"] == "requested", "those between have not ended"
