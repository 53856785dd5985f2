"""`user.has_perm("can.ACTION", job)`, and what a superuser may."""

from collections.abc import Callable

import pytest
from asgiref.sync import async_to_sync

from runs.commands import do
from runs.ledger import clock
from runs.models import Job, Proposal, Queue, Tenant, User
from runs.permissions import Action, Actor, Line, Scope, grant, visible
from runs.protocol.asks import Claim, Reconcile, Report, Reserve
from runs.protocol.evidence import Evidence

MAIL = "mail job of customer-1"


@pytest.mark.parametrize("action", set(Action) - {Action.MANAGE_GRANTS})
def test_a_superuser_has_no_right_over_any_job(
    people: dict[str, User], jobs: dict[str, Job], action: Action
) -> None:
    ada = people["ada"]
    assert ada.is_superuser
    for job in jobs.values():
        assert ada.has_perm(f"can.{action}", job) is False
        assert async_to_sync(ada.ahas_perm)(f"can.{action}", job) is False
    assert ada.has_perm(f"can.{action}") is False
    assert not visible(Job.objects.all(), Actor.of_user(ada), clock(), action).exists()


def test_and_keeps_djangos_permissions_over_the_models(people: dict[str, User]) -> None:
    assert people["ada"].has_perm("runs.view_queue")
    assert async_to_sync(people["ada"].ahas_perm)("runs.view_queue")
    assert not people["sam"].has_perm("runs.view_queue")


def test_the_async_answer_is_the_same(people: dict[str, User], jobs: dict[str, Job]) -> None:
    assert async_to_sync(people["lena"].ahas_perm)("can.cancel", jobs[MAIL])
    assert not async_to_sync(people["sam"].ahas_perm)("can.cancel", jobs[MAIL])


def test_without_a_job_it_asks_for_anywhere(people: dict[str, User]) -> None:
    assert people["omar"].has_perm("can.cancel")
    assert not people["sam"].has_perm("can.cancel")


def test_no_such_action_and_no_such_thing(people: dict[str, User], jobs: dict[str, Job]) -> None:
    lena = people["lena"]
    assert not lena.has_perm("can.fly", jobs[MAIL])
    assert not lena.has_perm("can.cancel", lena)
    elsewhere = Tenant.objects.create(name="elsewhere")
    eve = User.objects.create(username="eve", name="eve", tenant=elsewhere)
    grant(Actor.system(elsewhere), eve, [Line(Action.VIEW), Line(Action.CANCEL)])
    assert not eve.has_perm("can.cancel", jobs[MAIL])


def test_acting_needs_view(people: dict[str, User], jobs: dict[str, Job], system: Actor) -> None:
    grant(system, people["ada"], [Line(Action.CANCEL)])
    assert not people["ada"].has_perm("can.cancel", jobs[MAIL])
    grant(system, people["ada"], [Line(Action.VIEW, Scope.QUEUE, queue="mail")])
    assert people["ada"].has_perm("can.cancel", jobs[MAIL])
    assert not people["ada"].has_perm("can.cancel", jobs["ledger job of customer-2"])


@pytest.fixture
def unknown(people: dict[str, User], jobs: dict[str, Job]) -> Job:
    """A mail job whose step w1 reported as unknown."""
    job, w1 = jobs[MAIL], Actor.of_user(people["w1"])
    claim = do(w1, job.job_id, Claim(worker="w", ttl_seconds=5)).fields["claim"]
    do(w1, job.job_id, Reserve(claim=claim))
    do(w1, job.job_id, Report(event_id="r", claim=claim, ordinal=0, outcome="unknown"))
    return job


def test_who_ran_it_does_not_reconcile_it_nor_does_who_answers_for_them(
    people: dict[str, User], unknown: Job, jobs: dict[str, Job], system: Actor
) -> None:
    other = jobs["mail job of customer-2"]
    for name, actions in {"w1": [Action.RECONCILE], "omar": [Action.RECONCILE, Action.APPROVE]}.items():
        grant(system, people[name], [Line(action) for action in actions])
        for action in actions:
            assert not people[name].has_perm(f"can.{action}", unknown)
            assert people[name].has_perm(f"can.{action}", other)
    assert people["sam"].has_perm("can.reconcile", unknown)
    assert people["omar"].has_perm("can.cancel", unknown), "a stop is one person's"


def test_lena_approves_but_not_her_own(people: dict[str, User], unknown: Job) -> None:
    Queue.objects.filter(name="mail").update(reconcile_needs="2")
    evidence = Evidence(kind="receiver_confirmed", text="In the log.")
    ask = Reconcile(event_id="p", ordinal=0, outcome="ok", value="", evidence=evidence)

    def proposed_by(name: str) -> None:
        assert do(Actor.of_user(people[name]), unknown.job_id, ask).status == "proposed"

    assert people["lena"].has_perm("can.approve", unknown)
    proposed_by("lena")
    assert not people["lena"].has_perm("can.approve", unknown)
    Proposal.objects.update(state="withdrawn")
    ask = ask.model_copy(update={"event_id": "p2"})
    proposed_by("sam")
    assert people["lena"].has_perm("can.approve", unknown)


def test_an_answer_is_never_remembered(
    people: dict[str, User], submit: Callable[..., Job], system: Actor
) -> None:
    job = submit("j", "mail", "customer-9")
    sam = people["sam"]
    assert not sam.has_perm("can.pause", job)
    grant(system, sam, [Line(Action.PAUSE)])
    assert sam.has_perm("can.pause", job), "the same object, asked again"
