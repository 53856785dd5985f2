"""Submit, cancel, seal: what may begin, what never will (protocol.md, sections 4 and 11)."""

from dataclasses import replace

from runs.protocol import asks
from runs.protocol.states import Parent

from .shapes import a_spec
from .story import Story

ANOTHER = a_spec("something else")


def test_submit_is_idempotent_by_identity(new_job: Story) -> None:
    assert (new_job.submit().status, new_job.submit().status) == ("admitted", "existing")
    assert new_job.submit(ANOTHER).status == "conflict"
    assert new_job.job.seq == 1
    assert new_job.headline == "ready"


def test_another_order_of_steps_is_another_intent(new_job: Story) -> None:
    new_job.submit(a_spec("mail", "book"))
    assert new_job.submit(a_spec("book", "mail")).status == "conflict"


def test_a_cancel_before_submit_refuses_exactly_that_job_for_ever(new_job: Story) -> None:
    cancelled = new_job.cancel(cause="user_requested")
    assert (cancelled.status, cancelled.code) == ("tombstoned", 201)
    assert new_job.job.cancel is not None
    assert (new_job.job.cancel.seq, new_job.job.cancel.cause) == (1, "user_requested")
    assert new_job.headline == "blocked_before_start"
    assert [new_job.submit().status for _ in range(3)] == ["blocked_cancelled"] * 3
    assert new_job.submit(ANOTHER).status == "conflict"
    assert (new_job.job.blocked_submits, new_job.job.blocked_at) == (3, new_job.world.now)
    assert new_job.job.seq == 1, "a blocked try leaves no receipt"


def test_a_tombstone_is_never_worked_on(new_job: Story) -> None:
    new_job.cancel()
    assert new_job.say(asks.Claim(worker="w1")).status == "not_admitted"
    assert new_job.report(0, 0, "ok").status == "not_admitted"
    assert new_job.observe(0).status == "not_admitted"
    assert new_job.reconcile(0, "ok").status == "not_admitted"
    assert new_job.revoke().status == "no_claim"
    assert new_job.pause().status == "too_late"
    assert new_job.cancel().status == "already_requested"


def test_a_tombstone_needs_the_whole_list(new_job: Story) -> None:
    by_digest = asks.Cancel(event_id="c", spec_digest=new_job.spec.digest)
    refused = new_job.say(by_digest)
    assert (refused.status, refused.code, refused.kept) == ("spec_required", 422, False)
    new_job.submit()
    assert new_job.say(by_digest).status == "requested"


def test_the_first_cancel_s_cause_stands(mail_job: Story) -> None:
    claim = mail_job.claim()
    mail_job.reserve(claim)
    assert mail_job.cancel(cause="user_requested").status == "requested"
    assert mail_job.cancel(cause="operator_requested").status == "already_requested"
    assert mail_job.job.cancel is not None
    assert mail_job.job.cancel.cause == "user_requested"


def test_a_cancel_without_a_cause_is_stored_as_such(mail_job: Story) -> None:
    mail_job.cancel()
    assert mail_job.job.cancel is not None
    assert mail_job.job.cancel.cause == "canceled_no_cause"


def test_a_cancel_names_the_job_it_means(mail_job: Story) -> None:
    assert mail_job.cancel(ANOTHER).status == "spec_conflict"
    assert mail_job.headline == "ready"


def test_a_cancel_with_nothing_out_is_confirmed_at_once(mail_job: Story) -> None:
    cancelled = mail_job.cancel()
    assert (cancelled.status, cancelled.code) == ("requested", 202)
    assert cancelled.words == ["requested", "acknowledged"]
    assert mail_job.headline == "stopped"


def test_a_cancel_after_the_end_is_too_late_and_remembered() -> None:
    job = Story("mail")
    job.submit()
    claim = job.claim()
    job.reserve(claim)
    job.report(claim, 0, "ok")
    late = job.cancel(cause="user_requested")
    assert (late.status, late.code) == ("too_late", 200)
    assert job.cancel(cause="operator_requested").status == "too_late"
    assert job.job.cancel is not None
    assert job.job.cancel.cause == "user_requested"
    assert job.headline == "completed_cancel_too_late"
    assert job.job.control == "run"


def test_a_parent_must_be_seen_and_running_and_not_too_deep(new_job: Story) -> None:
    parents = {
        "parent_missing": Parent(visible=False),
        "parent_closed": Parent(open=False),
        "too_deep": Parent(depth=8),
        "admitted": Parent(depth=7),
    }
    for status, parent in parents.items():
        assert new_job.submit(parent=parent).status == status


def test_only_a_queue_s_own_ids_in_it(new_job: Story) -> None:
    assert new_job.submit(wrong_queue=True).status == "wrong_queue"
    refused = new_job.say(asks.Cancel(event_id="c", spec=new_job.spec), wrong_queue=True)
    assert (refused.status, refused.kept) == ("wrong_queue", True)


def test_but_a_known_job_is_cancelled_whatever_its_queue_s_prefix_is_now(mail_job: Story) -> None:
    cancel = asks.Cancel(event_id="c", spec=mail_job.spec)
    assert mail_job.say(cancel, wrong_queue=True).status == "requested"


def test_a_stop_waits_for_the_children(mail_job: Story) -> None:
    mail_job.world = replace(mail_job.world, job=replace(mail_job.job, children_unfinished=2))
    assert mail_job.cancel().words == ["requested"]
    assert mail_job.headline == "stopping"
    assert mail_job.checkpoint().tells == {"children": 2}
    mail_job.world = replace(mail_job.world, job=replace(mail_job.job, children_unfinished=0))
    assert mail_job.checkpoint().status == "acknowledged"
    assert mail_job.headline == "stopped"


def test_a_stop_is_confirmed_once(mail_job: Story) -> None:
    assert mail_job.checkpoint().status == "run"
    mail_job.cancel()
    again = mail_job.checkpoint()
    assert (again.status, again.kept) == ("acknowledged", False)


def test_a_sealed_generation_admits_nothing_new() -> None:
    job = Story(generation=20261129)
    assert job.say(asks.Seal(event_id="s", generation=20261129)).status == "sealed"
    assert job.say(asks.Seal(event_id="s", generation=20261128)).status == "already_sealed"
    assert job.submit().status == "sealed"
    assert job.cancel().kept, "a late cancel is answered and kept"
    for ask in (asks.Claim(worker="w1"), asks.Checkpoint(), asks.Revoke(event_id="v")):
        assert job.say(ask).status == "sealed"


def test_a_known_job_goes_on_after_the_seal(mail_job: Story) -> None:
    mail_job.say(asks.Seal(event_id="s", generation=7))
    assert mail_job.submit().status == "existing"
    assert mail_job.reserve(mail_job.claim()).status == "reserved"


def test_the_first_seal_closes_every_id_without_a_generation(new_job: Story) -> None:
    assert new_job.world.sealed_generation == -1
    new_job.say(asks.Seal(event_id="s", generation=0))
    assert new_job.submit().status == "sealed"
