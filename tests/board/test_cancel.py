"""Request cancel: the preview of what it would do, then the asking; never more said than was recorded."""

from datetime import timedelta

import pytest
from django.utils import timezone

from runs.causes import BUILT_IN
from runs.models import Cause, Receipt

from .cast import Browser, Stage, spec

PATH = "/jobs/order-1/cancel/"


def asked() -> list[str]:
    return list(Receipt.objects.filter(kind="cancel").order_by("pk").values_list("status", flat=True))


def test_nothing_is_out_so_the_stop_is_confirmed_at_once(stage: Stage, lena: Browser) -> None:
    job = stage.submit("order-1")
    page = lena.get(PATH)
    assert "Ask to cancel “Send welcome mail”?" in page.text
    for line in (
        "Nothing is out now.",
        "3 steps will be held and will not be sent.",
        "No worker holds the job.",
        "This cannot be taken back.",
    ):
        assert line in page.text, line
    assert Receipt.objects.count() == 1, "a preview changes nothing"

    note = "They called.\r\nTwice."
    sent = lena.post(PATH, page.fields | {"cause": "user_requested", "note": note, "asked_by": "Ms Ada"})
    assert (sent.status, sent.goes_to) == (302, "/jobs/order-1/")
    assert stage.row(job).control == "acknowledged"
    receipt = Receipt.objects.get(kind="cancel")
    assert '"note":"They called.\\nTwice."' in receipt.body
    after = lena.get("/jobs/order-1/").text
    assert f"Cancel requested at {receipt.at:%H:%M} by lena." in after
    assert "Stopped; 0 of 3 steps had happened" in after
    assert "For Ms Ada. Note: They called." in after


def test_a_step_is_out_so_a_cancel_is_only_requested(stage: Stage, lena: Browser) -> None:
    job = stage.begin("order-1", {"label": "Send welcome mail", "tool": "smtp/2"}, "Send bill")
    page = lena.get(PATH)
    assert "“Send welcome mail” is out now and may still happen. 1 step would not start." in page.text
    for line in (
        "Step 1 is out and may still happen: Send welcome mail",
        "1 step will be held and will not be sent.",
        "Worker worker-1 is listening.",
    ):
        assert line in page.text, line
    assert lena.send(PATH, fragment=True, cause="user_requested").status == 204
    assert stage.row(job).control == "requested"
    assert "Cancel requested; verifying a sent step" in lena.get("/jobs/order-1/").text


def test_a_step_that_is_not_marked_as_sent_would_be_held(stage: Stage, lena: Browser) -> None:
    stage.begin("order-1", "Only step", dispatch="marked")
    page = lena.get(PATH)
    assert "may still happen" not in page.text
    assert "“Only step” is with its worker, not marked as sent; a cancel now would hold it." in page.text
    assert "Step 1 is with its worker, not marked as sent; a cancel now would hold it: Only step" in page.text
    assert "0 step" not in page.text, "what would not be is not said"


def test_the_last_step_is_out_so_none_will_be_held(stage: Stage, lena: Browser) -> None:
    stage.begin("order-1", "Only step")
    assert "0 step" not in lena.get(PATH).node("cancel").all("ul", "lines")[0].text


def test_a_worker_that_was_not_heard_is_named(
    stage: Stage, lena: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "ago", timedelta(hours=1))
    stage.begin("order-1")
    monkeypatch.setattr(stage, "ago", timedelta(0))
    assert "The lease of worker worker-1 has ended: it may not hear the stop." in lena.get(PATH).text


def test_children_run_on_and_the_page_says_so(stage: Stage, lena: Browser) -> None:
    stage.submit("order-1")
    stage.submit("child-1", parent="order-1")
    told = "1 child job runs on. A cancel reaches them only where you ask for it below."
    assert told in lena.get(PATH).text
    lena.send(PATH, cause="user_requested")
    page = lena.get("/jobs/order-1/")
    assert "Cancel requested; confirming that nothing is left" in page.text
    assert "Related work started from it is still running." in page.text


def test_it_reaches_them_where_that_is_asked_for(stage: Stage, lena: Browser) -> None:
    stage.submit("order-1")
    assert "below it too" not in lena.get(PATH).text, "nothing is below it"
    stage.submit("child-1", parent="order-1")
    assert "Ask to cancel the unfinished jobs below it too" in lena.get(PATH).text
    lena.send(PATH, cause="user_requested", cascade="on")
    assert {stage.row("order-1").control, stage.row("child-1").control} == {"acknowledged"}
    assert stage.row("child-1").cancel_cause == "parent_cancelled"


def test_a_cause_must_be_chosen_and_what_was_written_is_kept(stage: Stage, lena: Browser) -> None:
    stage.submit("order-1")
    filled = lena.fill(PATH, note="They called.", asked_by="Ms Ada", grace_seconds="5")
    for cause in ("", "no_such_cause", "work_finished"):
        page = lena.post(PATH, filled | {"cause": cause})
        assert page.status == 422
        assert "Cause: " in page.node("errors").text
        kept = {name: page.fields[name] for name in ("note", "asked_by", "grace_seconds", "event_id")}
        assert kept == {"note": "They called.", "asked_by": "Ms Ada", "grace_seconds": "5"} | {
            "event_id": filled["event_id"]
        }
    for grace in ("", "-1", "604801", "soon"):
        page = lena.post(PATH, filled | {"cause": "user_requested", "grace_seconds": grace})
        assert page.status == 422
        assert "Seconds before it is told to abort: " in page.node("errors").text
        assert page.root.all("details")[0].attributes.keys() >= {"open"}, "the field in error is in sight"
    assert asked() == []


def test_what_only_the_protocol_refuses_is_an_error_of_its_field(stage: Stage, lena: Browser) -> None:
    stage.submit("order-1")
    filled = lena.fill(PATH, cause="user_requested")
    for field, label, text in (
        ("asked_by", "Asked by", "語" * 100),  # 300 bytes; the protocol takes 200
        ("asked_by", "Asked by", "Ada\tLovelace"),
        ("note", "Note", "a bell \x07"),
    ):
        page = lena.post(PATH, filled | {field: text})
        assert page.status == 422, text
        assert f"{label}: This text " in page.node("errors").text
    assert asked() == []


def test_causes_are_the_tenants_without_the_retired(stage: Stage, lena: Browser) -> None:
    stage.submit("order-1")
    Cause.objects.create(tenant=stage.tenant, code="storm", short="A storm", text="It blew.")
    Cause.objects.create(tenant=stage.tenant, code="shutdown", short="x", text="x", retired_at=timezone.now())
    options = {option["value"] for option in lena.get(PATH).root.all("option")}
    assert options >= {"", "storm", "user_requested"}
    assert not options & {"shutdown", "work_finished", "chat_turn_finished"}
    assert lena.send(PATH, cause="storm").status == 302
    assert "A storm." in lena.get("/jobs/order-1/").text


#: docs/protocol.md, section 8: what no person means by a cancel.
NOT_A_PERSONS = {
    *("paused_by_user", "paused_by_orchestrator", "paused_on_reload", "work_paused_by_user"),
    *("paused_race_guard", "chat_paused_with_task", "settle_drain_timeout", "work_claim_lost"),
    *("work_finished", "chat_turn_finished", "parent_cancelled", "deadline_exceeded", "canceled_no_cause"),
    *("killed_by_planner", "shutdown", "run_hard_timeout"),
}


def test_only_what_a_person_may_mean_is_offered(stage: Stage, omar: Browser) -> None:
    stage.submit("order-1")
    options = {option["value"] for option in omar.get(PATH).root.all("option")} & set(BUILT_IN)
    assert options == set(BUILT_IN) - NOT_A_PERSONS
    answer = stage.cancel("order-1", "omar", cause="work_claim_lost")
    assert answer.status == "requested", "a program may still name it"


@pytest.mark.parametrize(
    ("deed", "offered"),
    [
        (
            "pause",
            {
                *("paused_by_user", "work_paused_by_user", "operator_requested"),
                *("paused_race_guard", "other"),
            },
        ),
        ("revoke", {"operator_requested", "shutdown", "other"}),
    ],
)
def test_what_is_offered_for_other_deeds(stage: Stage, omar: Browser, deed: str, offered: set[str]) -> None:
    stage.begin("order-1")
    page = omar.get(f"/jobs/order-1/{deed}/")
    assert {option["value"] for option in page.root.all("option")} & set(BUILT_IN) == offered


def test_somebody_else_asked_first(stage: Stage, lena: Browser, omar: Browser) -> None:
    stage.begin("order-1")
    filled = lena.fill(PATH, cause="user_requested", note="They called.")
    assert omar.send(PATH, cause="operator_requested").status == 302
    page = lena.post(PATH, filled, fragment=True)
    assert page.status == 409
    assert "Somebody else requested the cancel first. Asking twice changes nothing." in page.text
    assert (page.fields["note"], page.fields["cause"]) == ("They called.", "user_requested")
    assert asked() == ["requested", "already_requested"]
    assert stage.row("order-1").cancel_cause == "operator_requested", "the first one's cause stands"

    reason = "A cancel was already requested. Asking twice changes nothing."
    fresh = lena.get(PATH)
    assert (fresh.status, reason in fresh.text, "cause" in fresh.fields) == (200, True, False)
    assert reason in lena.get("/jobs/order-1/").node("next").text


def test_it_came_too_late(stage: Stage, lena: Browser) -> None:
    job = stage.begin("order-1", "Only step")
    filled = lena.fill(PATH, cause="user_requested")
    stage.report(job, 0, "ok", value="250")
    page = lena.post(PATH, filled)
    assert page.status == 409
    assert "Nothing was changed by this." in page.text
    assert asked() == ["too_late"]
    seen = lena.get("/jobs/order-1/").text
    assert "Completed; the cancel came too late" in seen
    assert "Cancel requested too late; nothing changed" in seen
    assert "The job has already ended; a cancel would change nothing." in lena.get(PATH).text


def test_the_same_form_sent_twice_is_one_cancel(stage: Stage, lena: Browser) -> None:
    stage.begin("order-1")
    filled = lena.fill(PATH, cause="user_requested")
    assert [lena.post(PATH, filled).status for _ in range(3)] == [302, 302, 302]
    assert asked() == ["requested"]
    conflict = lena.post(PATH, filled | {"note": "Another note."})
    assert conflict.status == 409
    assert conflict.fields["note"] == "Another note."
    assert asked() == ["requested"]


def test_a_tombstone_was_cancelled_already(stage: Stage, lena: Browser) -> None:
    stage("omar", "order-1", "cancel", spec=spec(), cause="task_deleted")
    assert "A cancel was already requested." in lena.get(PATH).text


def test_olga_cancels_her_own(stage: Stage) -> None:
    stage.begin("order-1")
    olga = stage.browser("olga")
    assert olga.send(PATH, cause="user_requested").status == 302
    assert stage.row("order-1").cancel_by == "olga"
