"""Blocking before start, and what keeps it from being used to take other people's ids."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from pytest_django.fixtures import Settings

from runs import ledger
from runs.commands import Answer, do
from runs.errors import NotAllowed, NotVisible, TooMany
from runs.models import Job, Queue, Receipt, Refusal, User
from runs.permissions import Action, Actor, Line, Scope, grant
from runs.protocol.asks import Cancel, Submit
from runs.protocol.spec import Spec

Block = Callable[..., Answer]


def spec(queue: str = "mail", owner: str = "customer-1") -> Spec:
    return Spec.model_validate({"queue": queue, "owner": owner, "steps": ["Send it"]})


@pytest.fixture
def block(people: dict[str, User]) -> Block:
    """`block("omar", "job-1")`: a cancel with the spec, before anybody submitted the job."""
    count = iter(range(1, 10_000))

    def blocked(
        who: str, job: str, queue: str = "mail", owner: str = "customer-1", event: str = ""
    ) -> Answer:
        ask = Cancel(event_id=event or f"e-{next(count)}", spec=spec(queue, owner))
        return do(Actor.of_user(people[who]), job, ask)

    return blocked


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """`at(60)`: a minute after the test began."""
    start = ledger.clock()

    def moved(seconds: float) -> None:
        now: datetime = start + timedelta(seconds=seconds)
        monkeypatch.setattr("runs.ledger.clock", lambda _read=None: now)

    moved(0)
    return moved


def test_it_is_judged_on_the_queue_and_owner_of_the_spec(people: dict[str, User], block: Block) -> None:
    assert block("omar", "a", queue="mail").status == "tombstoned"
    with pytest.raises(NotAllowed, match="no right"):
        block("omar", "b", queue="ledger")
    with pytest.raises(NotAllowed):
        block("lena", "c"), "who may cancel may not block"
    grant(
        Actor.system(people["olga"].tenant),
        people["olga"],
        [Line(Action.BLOCK, Scope.OWNER, owner="customer-1")],
    )
    assert block("olga", "d").status == "tombstoned"
    with pytest.raises(NotVisible):
        block("olga", "e", owner="customer-2")
    refused = Refusal.objects.values_list("user__name", "action", "job_id", "code")
    assert set(refused) == {
        ("omar", "block", "b", "no_grant"),
        ("lena", "block", "c", "no_grant"),
        ("olga", "block", "e", "not_found"),
    }


def test_a_job_that_one_may_not_see_is_no_free_id(people: dict[str, User], block: Block) -> None:
    """The id is taken; saying so would tell that it exists."""
    system = Actor.system(people["olga"].tenant)
    do(system, "theirs", Submit(job_id="theirs", spec=spec(owner="customer-2")))
    lines = [Line(action, Scope.OWNER, owner="customer-1") for action in (Action.BLOCK, Action.SUBMIT)]
    grant(system, people["olga"], lines)
    with pytest.raises(NotVisible):
        block("olga", "theirs")
    with pytest.raises(NotVisible):
        do(Actor.of_user(people["olga"]), "theirs", Submit(job_id="theirs", spec=spec()))


def test_a_queues_prefix_keeps_its_ids(people: dict[str, User], block: Block) -> None:
    tenant = people["omar"].tenant
    Queue.objects.filter(tenant=tenant, name="ledger").update(id_prefix="led-")
    assert block("omar", "led-7", queue="mail").status == "wrong_queue"
    assert not Job.objects.filter(job_id="led-7").exists()
    do(Actor.system(tenant), "led-7", Submit(job_id="led-7", spec=spec(queue="ledger")))


def test_an_hour_holds_only_so_many(settings: Settings, block: Block, at: Callable[[float], None]) -> None:
    settings.CANCELBOARD_TOMBSTONES_PER_HOUR = 2
    assert block("omar", "a", event="e-a").status == "tombstoned"
    at(600)
    assert block("omar", "b").status == "tombstoned"
    at(900)
    with pytest.raises(TooMany) as refused:
        block("omar", "c", event="e-c")
    assert refused.value.retry_after == 2700, "then the first is an hour old"
    assert not Job.objects.filter(job_id="c").exists()
    assert not Receipt.objects.filter(event_id="e-c").exists()
    assert block("omar", "a", event="e-a").replayed, "what was done is still told"
    assert block("omar", "a").status == "already_requested", "which sets no tombstone"
    at(3600)
    assert block("omar", "c", event="e-c").status == "tombstoned"
    with pytest.raises(TooMany):
        block("omar", "d")
    settings.CANCELBOARD_TOMBSTONES_PER_HOUR = 0
    assert block("omar", "d").status == "tombstoned"


def test_the_bound_is_each_principals_own(settings: Settings, people: dict[str, User], block: Block) -> None:
    settings.CANCELBOARD_TOMBSTONES_PER_HOUR = 1
    system = Actor.system(people["sam"].tenant)
    grant(system, people["sam"], [Line(Action.BLOCK)])
    assert block("omar", "a").status == "tombstoned"
    assert block("sam", "b").status == "tombstoned"
    for job in ("c", "d"):
        do(system, job, Cancel(event_id=f"s-{job}", spec=spec()))


def test_blocked_submits_are_counted(people: dict[str, User], block: Block) -> None:
    block("omar", "a")
    for n in (1, 2):
        late = do(Actor.of_user(people["w1"]), "a", Submit(job_id="a", spec=spec()))
        assert (late.code, late.status) == (409, "blocked_cancelled")
        assert Job.objects.get(job_id="a").blocked_submits == n
    other = do(Actor.of_user(people["w1"]), "a", Submit(job_id="a", spec=spec(owner="customer-2")))
    assert other.status == "conflict"
    assert Job.objects.get(job_id="a").blocked_submits == 2, "another list of steps is not the blocked one"
