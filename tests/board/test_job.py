"""A job's page: its steps and receipts in words, in order, in the reader's zone."""

from datetime import UTC, datetime, timedelta

import pytest

from runs.models import Cause, Tool

from .cast import CONFIRMED, Browser, Stage
from .pages import Node, Page

PATH = "/jobs/order-1/"


def timeline(page: Page) -> list[Node]:
    return page.node("timeline").all("li")


def titles(page: Page) -> list[str]:
    return [event.all("b")[0].text for event in timeline(page)]


def test_a_whole_story_in_order(stage: Stage, sam: Browser) -> None:
    job = stage.begin("order-1", "Send mail", "Send bill")
    stage.cancel(job)
    stage("sam", job, "observe", ordinal=0, evidence={"kind": "not_found", "text": "Not in their list."})
    stage("lena", job, "revoke", cause="operator_requested", note="It is stuck.")
    stage.report(job, 0, "ok", value="250 queued")
    stage("sam", job, "reconcile", ordinal=0, outcome="ok", value="250 queued", evidence=CONFIRMED)
    page = sam.get(PATH)
    assert titles(page) == [
        "Job accepted",
        "Claimed by a worker",
        "Step 1 handed to its worker",
        "Cancel requested",
        "Looked at step 1; nothing is settled by it",
        "Claim taken away from its worker",
        "Late word on step 1, kept as testimony: it happened",
        "Outcome of step 1 recorded: it happened",
        "Stop confirmed: nothing is out, nothing more will start",
    ]
    assert [event["id"] for event in timeline(page)] == [f"ev-{n}" for n in range(1, 10)]
    dashed = ["u" in event["class"].split() for event in timeline(page)]
    assert dashed == [False, False, True, True, True, True, True, False, False]
    texts = [event.text for event in timeline(page)]
    assert "Looked and found nothing" in texts[4]
    assert "Not in their list." in texts[4]
    assert "Note: It is stuck." in texts[5]
    assert "“250 queued”" in texts[6]
    assert page.node("step-1").text.startswith("1 Send mail")
    assert "#8 sam" in page.node("step-1").text
    assert page.node("step-1").links["#8"] == "#ev-8"
    assert "Held" in page.node("step-2").text
    assert "not needed" in page.node("step-2").text


def test_a_step_that_was_handed_out_is_not_called_sent_before_its_mark(stage: Stage, sam: Browser) -> None:
    """In a marked job; where nothing is marked, handing out is all that is known of sending."""
    job = stage.begin("order-1", "Send mail", "Send bill", dispatch="marked")
    page = sam.get(PATH)
    assert "not yet" in page.node("step-1").text
    assert "Step 1 has been handed to its worker, which has not marked it as sent." in page.text

    attempt = stage.row(job).steps.get(ordinal=0).attempt
    assert stage("system", job, "dispatch", ordinal=0, attempt=attempt).status == "dispatched"
    page = sam.get(PATH)
    assert "not yet" not in page.node("step-1").text
    assert "Step 1 has been handed to its tool and has not answered yet." in page.text

    stage.begin("order-2", "Send mail")
    assert "not yet" not in sam.get("/jobs/order-2/").node("step-1").text


def test_a_cancel_before_the_mark_is_not_told_as_after_the_send(stage: Stage, sam: Browser) -> None:
    stage.cancel(stage.begin("order-1", "Send mail", dispatch="marked"))
    page = sam.get(PATH)
    assert "before the cancel arrived" not in page.text
    assert "it cannot be marked any more" in page.text
    assert "before cancel" not in sam.get("/verify/").node("row-order-1").text


def test_a_confirmed_stop_names_no_result_that_cannot_come(stage: Stage, lena: Browser) -> None:
    job = stage.submit("order-1")
    assert "Succeeded or failed" in lena.get(PATH).node("verdict").text
    stage.cancel(job)
    told = lena.get(PATH).node("verdict").text
    assert "Open" in told
    assert "Succeeded or failed" not in told


def test_who_asked_and_for_whom_are_told_apart(stage: Stage, lena: Browser) -> None:
    stage.cancel(stage.submit("order-1"), asked_by="Ms Ada")
    assert "Cancel asked by lena, for Ms Ada," in lena.get(PATH).node("facts").text


def test_every_receipt_of_every_story_reads_as_a_sentence(stage: Stage, lena: Browser) -> None:
    """No raw status on the page, whatever was refused."""
    job = stage.begin("order-1", dispatch="marked")
    stage("system", job, "release", ordinal=0)
    stage.report(job, 0, "ok", claim="1-nothing")
    stage.report(job, 7, "ok")
    stage.report(stage.reserve(job), 0, "ok", evidence={"kind": "receiver_refused", "text": "x"})
    stage("sam", job, "reconcile", ordinal=0, outcome="ok", evidence=CONFIRMED)
    stage("lena", job, "close_dispute", ordinal=0)
    stage("omar", job, "pause")
    stage("omar", job, "pause")
    stage("omar", job, "resume")
    stage("omar", job, "resume")
    stage("lena", job, "cancel", spec_digest="0" * 64)
    stage("omar", job, "revoke")
    stage("omar", job, "revoke")
    stage.cancel(job)
    stage.cancel(job)
    stage("omar", job, "pause")
    stage("sam", job, "reconcile", ordinal=0, outcome="ok", evidence=CONFIRMED)
    page = lena.get(PATH)
    assert len(titles(page)) == stage.row(job).seq
    assert not [title for title in titles(page) if "Refused: " in title or "_" in title]


def test_params_are_shown_as_what_they_are(stage: Stage, sam: Browser) -> None:
    params = {"plain": "text", "number": 3, "yes": True, "none": None, "list": ["é", {"deep": False}]}
    stage.submit("order-1", {"label": "Send mail", "target": "ada@example.test", "params": params})
    shown = sam.get(PATH).node("step-1").text
    for words in (
        "Recipient ada@example.test",
        "plain text",
        "number 3",
        "yes true",
        "none null",
        'list ["é", {"deep": false}]',
    ):
        assert words in shown, words
    assert 'list ["é", {"deep": false}]' in sam.get(f"{PATH}steps/0/outcome/").text


def test_a_customers_name_survives_its_link(stage: Stage, sam: Browser) -> None:
    name = "Ada & Sons=1?#%"
    stage.submit("order-1", owner=name)
    stage.submit("order-2", owner="Ada ")
    link = sam.get(PATH).node("facts").links[name]
    assert "row-order-1" in sam.get(link).html
    assert "row-order-2" not in sam.get(link).html
    assert sam.get(link).node("filter-owner").all("option")[1]["value"] == name


def test_times_are_in_the_readers_zone(stage: Stage, sam: Browser) -> None:
    at = datetime(2026, 11, 28, 20, 30, tzinfo=UTC)
    stage.ago = datetime.now(UTC) - at
    stage.submit("order-1")
    stage.ago -= timedelta(hours=3)
    stage("system", "order-1", "pause")
    for zone, label, times in (
        ("", "UTC", ["28 Nov 20:30", "23:30"]),
        ("Asia/Kolkata", "Kolkata, UTC+5:30", ["29 Nov 02:00", "05:00"]),
        ("America/St_Johns", "St Johns, UTC-3:30", ["28 Nov 17:00", "20:00"]),
        ("Europe/Berlin", "Berlin, UTC+1", ["28 Nov 21:30", "29 Nov 00:30"]),
        ("../../etc/passwd", "UTC", ["28 Nov 20:30", "23:30"]),
        ("Europe", "UTC", ["28 Nov 20:30", "23:30"]),
    ):
        sam.client.cookies["zone"] = zone
        page = sam.get(PATH)
        shown = [event.all("time")[0].text for event in timeline(page)]
        assert [text.startswith(begin) for text, begin in zip(shown, times, strict=True)] == [True, True], (
            zone,
            shown,
        )
        assert label in page.text


def test_earlier_receipts_are_a_link_away(
    stage: Stage, sam: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.queries.job_page.MOST_EVENTS", 3)
    stage.submit("order-1")
    for _ in range(3):
        stage("system", "order-1", "pause")
        stage("system", "order-1", "resume")
    address, seen = PATH, []
    while address:
        page = sam.get(address)
        seen = [event["id"] for event in timeline(page)] + seen
        address = page.root.links.get("Earlier receipts", "")
    assert seen == [f"ev-{n}" for n in range(1, 8)]


def test_a_replay_is_counted_on_the_originals_line(stage: Stage, sam: Browser) -> None:
    stage.begin("order-1")
    for _ in range(3):
        stage.report("order-1", 0, "ok", event_id="twice", value="250")
    page = sam.get(PATH)
    assert len(timeline(page)) == 4
    assert "delivered 3 times, last " in timeline(page)[3].text


def test_a_cause_of_the_tenants_own_has_its_words(stage: Stage, sam: Browser) -> None:
    Cause.objects.create(tenant=stage.tenant, code="storm", short="A storm", text="It blew.")
    stage.begin("order-1")
    stage.cancel("order-1", cause="storm", note="So windy.")
    page = sam.get(PATH)
    assert "A storm. Note: So windy." in page.node("ev-4").text
    assert "Why A storm So windy." in page.node("facts").text


def test_the_target_is_coloured_only_near_its_end(stage: Stage, sam: Browser) -> None:
    for minutes, tone, words in (
        (1, "", "58 min left"),
        (50, "pending", "9 min left"),
        (70, "bad", "10 min over"),
    ):
        stage.ago = timedelta(minutes=minutes)
        job = stage.begin(f"order-{minutes}")
        stage.ago = timedelta(0)
        facts = sam.get(f"/jobs/{job}/").node("facts")
        target = next(fact for fact in facts.all("dd") if "left" in fact.text or "over" in fact.text)
        assert set(target["class"].split()) == ({"tone", tone} if tone else set()), minutes
        assert target.text in (words, words.replace("58", "59")), minutes


def test_tools_have_their_label(stage: Stage, sam: Browser) -> None:
    Tool.objects.create(tenant=stage.tenant, name="smtp/2", label="Mail house")
    stage.submit("order-1", {"label": "Send mail", "tool": "smtp/2"})
    assert "Mail house" in sam.get(PATH).node("steps").text
