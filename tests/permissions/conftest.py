"""The demo's people, and three jobs that they may or may not touch."""

from collections.abc import Callable

import pytest

from runs.commands import do
from runs.demo.people import cast
from runs.models import Job, Tenant, User
from runs.permissions import Actor
from runs.protocol.asks import Submit
from runs.protocol.spec import Spec

#: docs/permissions.md, the matrix: column heading, job id, queue, owner.
JOBS = (
    ("mail job of customer-1", "mail-1", "mail", "customer-1"),
    ("mail job of customer-2", "mail-2", "mail", "customer-2"),
    ("ledger job of customer-2", "ledger-2", "ledger", "customer-2"),
)


@pytest.fixture
def people(db: None) -> dict[str, User]:
    return cast()


@pytest.fixture
def acme(people: dict[str, User]) -> Tenant:
    return people["sam"].tenant


@pytest.fixture
def system(acme: Tenant) -> Actor:
    return Actor.system(acme)


@pytest.fixture
def submit(system: Actor) -> Callable[..., Job]:
    """`submit("id", "mail", "customer-1")`: the job's row, through the real command."""

    def job(job_id: str, queue: str, owner: str) -> Job:
        spec = Spec.model_validate({"queue": queue, "owner": owner, "steps": ["Send it"]})
        do(system, job_id, Submit(job_id=job_id, spec=spec))
        return Job.objects.get(tenant=system.tenant_id, job_id=job_id)

    return job


@pytest.fixture
def jobs(submit: Callable[..., Job]) -> dict[str, Job]:
    return {column: submit(job_id, queue, owner) for column, job_id, queue, owner in JOBS}
