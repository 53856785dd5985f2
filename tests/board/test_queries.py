"""How many statements a page costs: a number, whatever it shows. PostgreSQL is asked the time besides."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.commands import operations
from runs.models import Cause
from runs.protocol.asks import Operate

from .cast import Browser, Stage

#: Path: at most so many statements, the session, the reader and the rail's two counts included.
COSTS = {
    "/verify/": 14,
    "/verify/?queue=mail&system=smtp/2&state=unknown": 14,
    "/jobs/": 11,
    "/jobs/?q=order": 11,
    "/tombstones/": 9,
    "/jobs/order-0/": 15,
    "/workers/": 11,
    "/insights/": 16,
    "/help/words/": 7,
}
PATCHES = {"/verify/": 14, "/jobs/": 9, "/jobs/order-0/": 15}


def cost(browser: Browser, path: str, **more: Any) -> int:
    with CaptureQueriesContext(connection) as seen:
        assert browser.get(path, **more).status == 200
    asked = [query["sql"] for query in seen.captured_queries if "clock_timestamp" not in query["sql"]]
    return len(asked)


@pytest.fixture
def plain(stage: Stage) -> Callable[[int], None]:
    """So many jobs more, each with some steps and receipts."""
    made = iter(range(1000))

    def make(count: int) -> None:
        for _ in range(count):
            n = next(made)
            stage.unknown(f"order-{n}", *({"label": f"Step {k}", "tool": "smtp/2"} for k in range(3)))
            stage("system", f"stone-{n}", "cancel", spec=stage.specs[f"order-{n}"], cause="other")

    return make


def test_what_pages_cost(plain: Callable[[int], None], lena: Browser) -> None:
    plain(2)
    lena.get("/verify/")
    costs = {path: cost(lena, path) for path in COSTS}
    assert {path: n for path, n in costs.items() if n > COSTS[path]} == {}, costs


def test_what_lists_of_doubts_cost(stage: Stage, lena: Browser) -> None:
    """Testimony, a report after it was settled, and one without a mark: however many there are."""

    def make(count: int) -> None:
        for _ in range(count):
            n = next(stage.numbers)
            stage.begin(f"late-{n}")
            stage("system", f"late-{n}", "revoke", cause="other")
            stage.report(f"late-{n}", 0, "ok")
            refused = {"kind": "receiver_refused", "text": "no"}
            stage("system", f"late-{n}", "reconcile", ordinal=0, outcome="rejected", evidence=refused)
            stage.begin(f"bare-{n}", dispatch="marked")
            stage.report(f"bare-{n}", 0, "ok")

    make(2)
    paths = {"/disputed/": 12, "/late/": 13}
    few = {path: cost(lena, path) for path in paths}
    assert {path: n for path, n in few.items() if n > paths[path]} == {}, few
    make(4)
    assert {path: cost(lena, path) for path in paths} == few


def test_what_bulk_operations_cost(stage: Stage, lena: Browser) -> None:
    def make(count: int) -> str:
        jobs = [stage.submit(f"bulk-{next(stage.numbers)}") for _ in range(count)]
        body = {"event_id": f"op-{count}", "command": "cancel", "cause": "other", "job_ids": jobs}
        told = operations.start(stage.actors["lena"], Operate.model_validate(body))
        operations.work_off(stage.clock())
        return f"/operations/{told.fields['operation']['operation_id']}/"

    few, many = make(1), make(5)
    assert cost(lena, few) == cost(lena, many) <= 13
    assert cost(lena, "/operations/") <= 11
    costs = [cost(lena, f"/operations/new/?{query}") for query in ("queue=mail", "job=bulk-1&job=bulk-2")]
    assert max(costs) <= 12, costs


def test_what_live_patches_cost(plain: Callable[[int], None], lena: Browser) -> None:
    plain(2)
    asked = {"jobs": "order-0,order-1", "shown": "order-0"}
    costs = {path: cost(lena, path, fragment=True, **asked) for path in PATCHES}
    assert {path: n for path, n in costs.items() if n > PATCHES[path]} == {}, costs


def test_more_rows_cost_no_more(plain: Callable[[int], None], lena: Browser) -> None:
    plain(2)
    paths = ("/verify/", "/jobs/", "/tombstones/", "/workers/")
    few = {path: cost(lena, path) for path in paths}
    plain(6)
    assert {path: cost(lena, path) for path in paths} == few


def test_more_steps_receipts_causes_and_testimony_cost_no_more(stage: Stage, lena: Browser) -> None:
    """All that a page reads only where there is something of it, once and many times."""
    for n in range(9):
        Cause.objects.create(tenant=stage.tenant, code=f"storm-{n}", short=f"Storm {n}", text="It blew.")

    def story(job: str, times: int) -> str:
        steps = ({"label": f"Step {k}", "tool": f"tool/{k}"} for k in range(times + 1))
        stage.begin(job, *steps)
        for k in range(times):
            stage("lena", job, "revoke", cause=f"storm-{k}")
            stage.report(job, k, "rejected", value="550", event_id=f"{job}-{k}")  # testimony
            stage.report(job, k, "rejected", value="550", event_id=f"{job}-{k}")  # a replay of it
            confirmed = {"kind": "receiver_confirmed", "text": "seen"}
            stage("system", job, "reconcile", ordinal=k, outcome="ok", evidence=confirmed)  # disputed
            stage.claim(job)
            stage.reserve(job)
        stage(
            "system",
            f"{job}-child",
            "submit",
            job_id=f"{job}-child",
            spec=stage.specs[job].model_copy(update={"parent": job}),
        )
        stage.cancel(job, cause="storm-8")
        return f"/jobs/{job}/"

    one, many = story("one", 1), story("many", 7)
    for path in (one, many):
        lena.get(path)  # that its evidence was read is kept once
    costs = [cost(lena, path) for path in (one, many)]
    assert costs[0] == costs[1]
    # testimony, causes of one's own, how many children are unfinished, which, and whether it was read before
    assert costs[0] <= COSTS["/jobs/order-0/"] + 9, costs
    assert [cost(lena, path, fragment=True, jobs="x", after=1) for path in (one, many)] == costs
    form = "steps/{}/outcome/"
    assert cost(lena, one + form.format(1)) == cost(lena, many + form.format(7))


def test_a_part_pays_for_no_rail(stage: Stage, lena: Browser) -> None:
    stage.begin("order-1")
    whole, part = (cost(lena, "/jobs/order-1/cancel/", fragment=fragment) for fragment in (False, True))
    assert part == whole - 2
