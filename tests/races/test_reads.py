"""What a read tells was true at one moment, whatever is written while it reads."""

from collections.abc import Callable
from typing import Any

import pytest

from runs.errors import NotVisible
from runs.ledger import clock
from runs.models import Grant
from runs.permissions import Actor, grants
from runs.queries import job_page, jobs, preview, receipts
from tests.support.databases import Database

from .meeting import PATIENCE, Side
from .scene import Scene, digest, spec

READS: dict[str, Callable[[Scene], Any]] = {
    "one job": lambda scene: jobs.one(scene.actors["lena"], "j"),
    "a list": lambda scene: jobs.listed(scene.actors["lena"], jobs.JobFilter())["jobs"][0],
    "a page's job": lambda scene: job_page.job_page(scene.actors["lena"], "j", clock()).shape,
    "a preview": lambda scene: preview.cancel(scene.actors["lena"], "j"),
}


def begun() -> Scene:
    scene = Scene()
    scene.do("submit", spec=spec("Send it"))
    scene.do("claim")
    scene.do("reserve", claim=1, attempt="a")
    return scene


def ended(scene: Scene) -> None:
    scene.do("report", claim=1, ordinal=0, outcome="ok", value="250")
    scene.do("cancel", spec_digest=digest("Send it"))


def told(shape: Any) -> Any:
    """What of an answer must belong together."""
    if "would" in shape:
        return shape["would"], shape["held"], shape["out_now"] and shape["out_now"]["state"]
    (step,) = shape["steps"]
    return shape["seq"], shape["result"], shape["unsettled"], step["state"], step["value"]


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_read_is_of_one_moment(real_db: Database, read: Callable[[Scene], Any]) -> None:
    scene = begun()
    whole = Side(lambda: read(scene)).start()
    before = told(whole.join())
    ended(scene)
    after = told(read(scene))
    for stop_after in range(1, len(whole.statements) + 1):
        again = begun()
        side = Side(lambda again=again: read(again), stop_after).start()
        assert side.stopped.wait(PATIENCE)
        ended(again)
        side.go.set()
        assert told(side.join()) in (before, after), f"stopped after statement {stop_after}"


def test_receipts_of_after_a_revocation_are_not_given(real_db: Database) -> None:
    """The right and what it lets see are of one moment."""

    def given(scene: Scene) -> list[str]:
        try:
            told = receipts.of_job(scene.actors["lena"], "j", 0, 200)
        except NotVisible:
            return []
        return [receipt["kind"] for receipt in told["receipts"]]

    def revoked_and_cancelled(scene: Scene) -> None:
        lena = scene.actors["lena"].user_id
        grant = Grant.objects.get(tenant=scene.tenant, action="view", user=lena)
        grants.revoke_grant(Actor.system(scene.tenant), grant.pk)
        scene.do("cancel", spec_digest=digest("Send it"))

    scene = begun()
    whole = Side(lambda: given(scene)).start()
    before = whole.join()
    for stop_after in range(1, len(whole.statements) + 1):
        again = begun()
        side = Side(lambda again=again: given(again), stop_after).start()
        assert side.stopped.wait(PATIENCE)
        revoked_and_cancelled(again)
        side.go.set()
        assert side.join() in (before, []), f"stopped after statement {stop_after}"
