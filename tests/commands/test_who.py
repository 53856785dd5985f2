"""A right that ends between the door and the lock, and who is told of what was committed."""

import pytest

from runs import live
from runs.errors import Unauthenticated
from runs.models import User
from tests.races.scene import Scene
from tests.support.databases import Database


@pytest.mark.parametrize("job_id", ["j", "of-nobody"])
def test_an_account_switched_off_after_the_door_is_nobody(scene: Scene, job_id: str) -> None:
    scene.do("submit")
    User.objects.filter(pk=scene.actors["lena"].user_id).update(is_active=False)
    with pytest.raises(Unauthenticated) as caught:
        scene.do("pause", job_id, who="lena")
    assert caught.value.code == "principal_inactive"


def test_this_process_is_told_what_was_committed_and_nothing_else(real_db: Database) -> None:
    scene = Scene()
    heard: list[live.Nudge] = []
    leave = live.listen(heard.append)
    try:
        scene.do("submit")
        scene.do("pause", who="lena")
        scene.do("submit")
    finally:
        leave()
    scene.do("resume", who="lena")
    assert [(nudge.job_id, nudge.seq) for nudge in heard] == [("j", 1), ("j", 2)]
