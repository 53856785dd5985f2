"""The causes that the product itself names, each in its real situation, as the running code hears them
(docs/protocol.md, section 8); and a tenant's own, carried all the way. Those that a worker names by itself:
tests/worker/test_limits.py; the end of a grace: test_worker_hears.py.
"""

from collections.abc import Iterator

import pytest

from runs.causes import BUILT_IN
from runs.ledger import clock
from runs.models import Cause as OwnCause
from runs.models import Job
from runs.worker import Cause, Client, How, cause_of
from tests.board.cast import Stage
from tests.support.server import Served

from .test_worker_hears import Run


@pytest.fixture
def client(served: Served, token: str) -> Iterator[Client]:
    with Client(served.url, token) as client:
        yield client


def built_in(code: str) -> Cause:
    short, text = BUILT_IN[code]
    return Cause(code, str(short), str(text))


def heard_by(run: Run) -> Cause | None:
    assert run.step is not None
    return cause_of(run.step.cancel)


def test_a_claim_that_another_took_over_is_lost_by_name(stage: Stage, client: Client) -> None:
    """Its lease has ended, nobody revoked it. What it still does is testimony, and settles nothing."""
    stage.submit("order-1")
    run = Run(client)
    Job.objects.filter(job_id="order-1").update(lease_expires_at=clock())
    stage.claim("order-1", "worker-2")
    ended = run.end()
    assert (ended.how, ended.cause) == (How.LOST, built_in("work_claim_lost"))
    assert heard_by(run) == built_in("work_claim_lost")
    steps = client.job("order-1")["steps"]
    assert [step["state"] for step in steps] == ["unknown", "pending", "pending"]
    assert [said["outcome"] for said in steps[0]["testimony"]] == ["ok"]


def test_a_child_hears_that_its_parent_was_cancelled(stage: Stage, client: Client) -> None:
    stage.submit("parent-1")
    stage.submit("order-1", parent="parent-1")
    run = Run(client)
    assert stage.cancel("parent-1", cascade=True).status == "requested"
    ended = run.end()
    assert (ended.how, ended.cause) == (How.CANCELLED, built_in("parent_cancelled"))


def test_a_cancel_that_named_nothing_is_called_that_in_every_later_refusal(
    stage: Stage, client: Client
) -> None:
    stage.submit("order-1", dispatch="marked")
    claim = stage.claim("order-1")
    attempt = "a-1"
    assert client.reserve("order-1", claim, attempt).status == "reserved"
    digest = stage.specs["order-1"].digest
    assert stage("lena", "order-1", "cancel", spec_digest=digest).status == "requested"
    refused = client.dispatch("order-1", claim, 0, attempt), client.reserve("order-1", claim)
    none = built_in("canceled_no_cause")
    named = {"code": none.code, "short": none.short, "text": none.text}
    assert [(each.status, each["cause"]) for each in refused] == [("cancelled", named)] * 2
    assert client.heartbeat("order-1", claim)["signal"]["cause"] == named


def test_a_cause_of_the_tenant_s_own_is_heard_in_its_words_also_when_it_was_retired_since(
    stage: Stage, client: Client
) -> None:
    own = OwnCause.objects.create(
        tenant=stage.tenant, code="budget_spent", short="Budget spent", text="The month's budget is used up."
    )
    stage.submit("order-1")
    run = Run(client)
    stage.cancel("order-1", cause="budget_spent")
    OwnCause.objects.filter(pk=own.pk).update(retired_at=clock())
    ended = run.end()
    assert ended.cause == Cause("budget_spent", "Budget spent", "The month's budget is used up.")
    assert client.job("order-1")["cancel"]["cause"]["short"] == "Budget spent"
