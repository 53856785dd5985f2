"""More than two at once, as they come: threads, and real processes."""

from collections import Counter
from functools import partial
from typing import Any

from runs.audit import breaches, snapshot
from runs.models import Job, Receipt
from tests.support.databases import Database

from .meeting import together
from .pairs import Asked, asks
from .processes import Process, asked
from .scene import Scene, digest, spec

CROWD = 6


def clean() -> bool:
    with snapshot():
        return list(breaches()) == []


def statuses(answers: list[Any]) -> Counter[str]:
    return Counter(answer.status for answer in answers)


def test_one_tombstone_whoever_comes_first(real_db: Database) -> None:
    scene = Scene()
    cancels = [partial(scene.do, "cancel", event_id=f"c{n}", spec=spec()) for n in range(CROWD)]
    submits = [partial(scene.do, "submit") for _ in range(CROWD)]
    found = statuses(together(*cancels, *submits))
    first = {"tombstoned", "admitted"} & set(found)
    assert len(first) == 1
    assert found[first.pop()] == 1
    job = Job.objects.get(tenant=scene.tenant)
    assert job.blocked_submits == found["blocked_cancelled"]
    assert found["requested"] == (1 if job.admitted else 0)
    assert clean()


def test_one_event_id_many_jobs(real_db: Database) -> None:
    """A cancel each, before the submit: one job is buried, and nothing is kept of the others."""
    scene = Scene()
    found = statuses(
        together(*(partial(scene.do, "cancel", f"j{n}", event_id="e", spec=spec()) for n in range(CROWD)))
    )
    assert found == {"tombstoned": 1, "event_conflict": CROWD - 1}
    assert Job.objects.filter(tenant=scene.tenant).count() == 1
    assert clean()


def test_one_claim_and_one_step_out(real_db: Database) -> None:
    scene = Scene()
    scene.do("submit")
    found = statuses(together(*(partial(scene.do, "claim", worker=f"w{n}") for n in range(CROWD))))
    assert found == {"claimed": 1, "claim_held": CROWD - 1}
    reserves = [partial(scene.do, "reserve", claim=1, attempt=f"a{n}") for n in range(CROWD)]
    assert statuses(together(*reserves)) == {"reserved": 1, "inflight": CROWD - 1}
    assert clean()


def test_every_child_ends_at_once_and_the_parent_is_confirmed(real_db: Database) -> None:
    scene = Scene()
    scene.do("submit", "p")
    for n in range(CROWD):
        scene.do("submit", f"c{n}", spec=spec("Send it", parent="p"))
        scene.do("claim", f"c{n}")
        scene.do("reserve", f"c{n}", claim=1)
    assert scene.do("cancel", "p", spec_digest=digest()).status == "requested"
    reports = [
        partial(scene.do, "report", f"c{n}", event_id=f"r{n}", claim=1, ordinal=0, outcome="ok")
        for n in range(CROWD)
    ]
    assert statuses(together(*reports)) == {"settled": CROWD}
    assert Job.objects.get(tenant=scene.tenant, job_id="p").control == "acknowledged"
    assert Receipt.objects.filter(job_ref="p", kind="checkpoint").count() == 1
    assert clean()


def test_processes_that_do_the_same(real_db: Database, three: list[Process]) -> None:
    scene = Scene()
    for number, process in enumerate(three):
        process.prepare(real_db, [asked(scene, side) for side in sides(number)])
    for process in three:
        process.go()
    answers = [
        (side, answer)
        for n, p in enumerate(three)
        for side, answer in zip(sides(n), p.answers(), strict=True)
    ]
    found = Counter((side.command, told["status"], told["replayed"]) for side, (_, _, _, told) in answers)
    assert found["submit", "admitted", False] == 1
    assert found["submit", "existing", False] == 2
    assert found["claim", "claimed", False] <= 1
    requested = found["cancel", "requested", False]
    assert requested == 1
    assert found["cancel", "requested", True] + found["cancel", "already_requested", True] == 2
    assert sum(found[kind] for kind in found if kind[0] == "cancel") == 6
    assert clean()


def sides(number: int) -> list[Asked]:
    named = {"spec_digest": digest()}
    return [
        asks("submit"),
        asks("claim", worker=f"worker-{number}"),
        asks("cancel", event_id="same", **named),
        asks("cancel", event_id=f"own-{number}", **named),
    ]
