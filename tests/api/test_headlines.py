"""The headline as SQL says of every job exactly what the protocol's function says."""

from itertools import product
from typing import Any

import pytest
from django.utils import timezone

from runs.models import Job, Tenant
from runs.queries.headlines import HEADLINES
from runs.queries.shape import headline_of

from .cast import Caller

NOW = timezone.now()
STATES = {"open": ("pending", "inflight", "unknown"), "succeeded": ("ok",), "failed": ("rejected",)}


def jobs(tenant: Tenant) -> list[Job]:
    """A row for every state that the database's own constraints admit."""
    made = []
    axes = product(("run", "requested", "acknowledged"), STATES, (None, NOW), (False, True))
    for control, result, paused_at, too_late in axes:
        if too_late and (control != "run" or result == "open"):
            continue
        for cur in STATES[result]:
            out = cur in ("inflight", "unknown")
            if control == "acknowledged" and out:
                continue
            made.append(
                Job(
                    control=control,
                    result=result,
                    cur=cur,
                    paused_at=paused_at,
                    too_late=too_late,
                    position=int(cur == "ok"),
                    unsettled_since=NOW if out else None,
                    cancel_seq=1 if too_late or control != "run" else None,
                    admitted=True,
                )
            )
    made.append(Job(control="acknowledged", cancel_seq=1, admitted=False))
    for n, job in enumerate(made):
        job.tenant, job.job_id, job.queue, job.dispatch = tenant, f"j{n}", "mail", "unmarked"
        job.n_steps, job.spec_digest, job.created_at, job.updated_at = 1, "0" * 64, NOW, NOW
        if job.cancel_seq:
            job.grace_until = job.cancel_at = NOW
            job.cancel_cause = "other"
    return made


def test_each_condition_finds_the_jobs_of_its_headline(acme: Tenant) -> None:
    Job.objects.bulk_create(jobs(acme))
    by_function: dict[str, set[str]] = {code: set() for code in HEADLINES}
    for job in Job.objects.all():
        by_function[headline_of(job)].add(job.job_id)
    by_sql = {
        code: set(Job.objects.filter(condition).values_list("job_id", flat=True))
        for code, condition in HEADLINES.items()
    }
    assert by_sql == by_function
    assert all(by_function.values()), "a headline that no job of this test has"


@pytest.mark.parametrize("code", HEADLINES)
def test_each_headline_can_be_asked_for(app: Caller, acme: Tenant, code: str) -> None:
    Job.objects.bulk_create(jobs(acme))
    found: Any = app.get("/jobs", headline=code)["jobs"]
    assert found
    assert {job["headline"] for job in found} == {code}
