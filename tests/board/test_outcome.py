"""Record outcome: what somebody saw becomes a receipt, once, or a form that says why not and keeps every
word of theirs."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from runs.models import Receipt, Tool

from .cast import CONFIRMED, REFUSED, Browser, Stage

SAW = "Their list shows the message.\nDelivered, 250 queued."


@pytest.fixture
def job(stage: Stage) -> str:
    return stage.unknown("order-1", {"label": "Send welcome mail", "tool": "smtp/2"}, "Send bill")


PATH = "/jobs/order-1/steps/0/outcome/"


def seen(**entered: Any) -> dict[str, Any]:
    """Happened, unless said otherwise."""
    return {"outcome": "ok", "where": "list", "reference": "250-77", "saw": SAW} | entered


def last(job: str, kind: str = "reconcile") -> Receipt:
    return Receipt.objects.filter(job_ref=job, kind=kind).latest("seq")


def test_it_happened(stage: Stage, sam: Browser, job: str) -> None:
    page = sam.send(PATH, **seen(value="250 queued", link="https://mail.test/sent/77"))
    assert (page.status, page.goes_to) == (302, "/jobs/order-1/")
    row = stage.row(job)
    assert (row.control, row.result, row.position) == ("acknowledged", "open", 1)
    step = row.steps.get(ordinal=0)
    assert (step.state, step.value, step.settled_by) == ("ok", "250 queued", "sam")
    after = sam.get("/jobs/order-1/").text
    assert "for step 1: It happened." in after
    assert "by sam" in after
    assert "Stopped; 1 of 2 steps had happened" in after
    for word in (
        "The receiver confirmed it",
        "Reference: 250-77",
        "Delivered, 250 queued.",
        "https://mail.test",
    ):
        assert word in after, word


def test_without_a_value_the_reference_is_the_value(stage: Stage, sam: Browser, job: str) -> None:
    sam.send(PATH, **seen())
    assert stage.row(job).steps.get(ordinal=0).value == "250-77"


def test_it_did_not_happen_needs_the_receivers_refusal(stage: Stage, sam: Browser, job: str) -> None:
    for kind, said in (
        ("", "Say what kind of evidence this is."),
        ("receiver_confirmed", "Say what kind of evidence this is."),
        ("not_found", "Finding nothing is not a refusal. Choose “Still cannot tell”."),
        ("timed_out", "Finding nothing is not a refusal. Choose “Still cannot tell”."),
    ):
        page = sam.send(PATH, **seen(outcome="rejected", kind=kind))
        assert (page.status, said in page.text) == (422, True), kind
        assert page.fields["saw"] == " ".join(SAW.split())
    assert not Receipt.objects.filter(kind="reconcile").exists()
    assert sam.send(PATH, **seen(outcome="rejected", kind="receiver_refused")).status == 302
    row = stage.row(job)
    assert (row.control, row.result) == ("acknowledged", "failed")
    assert row.steps.get(ordinal=0).value == "", "a refusal has no result to show"


def test_still_cannot_tell_is_an_observation(stage: Stage, sam: Browser, job: str) -> None:
    page = sam.send(PATH, **seen(outcome="open", kind="not_found", reference=""))
    assert page.status == 302
    assert stage.row(job).cur == "unknown"
    assert last(job, "observe").status == "observed"
    assert "still unknown" in sam.get("/jobs/order-1/").text
    assert "Looked and found nothing (sam)" in sam.get(PATH).text, "the next one sees what was checked"


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ({"outcome": ""}, "What happened: This field is required."),
        ({"where": "nowhere"}, "Where you looked: Select a valid choice."),
        ({"looked_at": ""}, "When you looked (UTC): This field is required."),
        ({"looked_at": "yesterday"}, "When you looked (UTC): Enter a valid date/time."),
        ({"reference": " "}, "Reference shown there: Needed: what the other system calls it."),
        ({"saw": "nineteen characters"}, "What you saw: Ensure this value has at least 20 characters"),
        ({"link": "not a link"}, "Link: Enter a valid URL."),
        ({"link": "ftp://mail.test/x"}, "Link: A link begins with http:// or https://."),
        ({"link": "javascript:alert(1)"}, "Link: Enter a valid URL."),
    ],
)
def test_what_is_missing_is_said_and_what_was_written_is_kept(
    sam: Browser, job: str, missing: dict[str, Any], said: str
) -> None:
    filled = sam.fill(PATH, **seen(printed_at="29 Nov, 3 pm CET", value="<i>250</i>")) | missing
    for fragment in (False, True):
        page = sam.post(PATH, filled, fragment=fragment)
        assert page.status == 422
        assert "Nothing was recorded." in page.text
        assert said in page.text
        kept = page.fields
        assert (kept["printed_at"], kept["value"]) == ("29 Nov, 3 pm CET", "<i>250</i>")
        assert kept["event_id"] == filled["event_id"], "nothing was kept under it, so it is still free"
        if "saw" not in missing:
            assert kept["saw"] == " ".join(SAW.split())
    assert not Receipt.objects.filter(kind="reconcile").exists()


def test_every_error_leads_to_its_field(sam: Browser, job: str) -> None:
    page = sam.send(PATH, outcome="", where="", looked_at="", saw="", link="x", reference="")
    links = page.node("errors").all("a")
    assert len(links) == 5
    assert all(page.has(link["href"].removeprefix("#")) for link in links)


def test_it_was_not_looked_up_before_it_was_sent_nor_in_the_future(sam: Browser, job: str) -> None:
    now = timezone.now()
    for at, said in (
        (now - timedelta(minutes=5), "That is before the step was sent: what you saw was not its outcome."),
        (now + timedelta(minutes=5), "You cannot have looked in the future."),
    ):
        page = sam.send(PATH, **seen(looked_at=f"{at:%Y-%m-%dT%H:%M}"))
        assert (page.status, said in page.text) == (422, True)


def test_the_time_looked_at_is_in_the_readers_zone(sam: Browser, job: str) -> None:
    sam.client.cookies["zone"] = "Asia/Kolkata"
    page = sam.get(PATH)
    local = timezone.now() + timedelta(hours=5, minutes=30)
    assert page.fields["looked_at"][:13] in (
        f"{local:%Y-%m-%dT%H}",
        f"{local - timedelta(minutes=1):%Y-%m-%dT%H}",
    )
    assert "When you looked (Kolkata, UTC+5:30)" in page.text
    assert sam.post(PATH, page.fields | seen()).status == 302
    assert f"Looked: {page.fields['looked_at'].replace('T', ' ')} +0530" in last(job).body


def test_line_breaks_are_newlines(sam: Browser, job: str) -> None:
    assert sam.send(PATH, **seen(saw="one line of it\r\ntwo lines of it\rthree")).status == 302
    assert "one line of it\\ntwo lines of it\\nthree" in last(job).body
    assert "\\r" not in last(job).body


@pytest.fixture
def tool(stage: Stage) -> Tool:
    return Tool.objects.create(
        tenant=stage.tenant,
        name="smtp/2",
        label="Mail house",
        where_to_look="Under Sent.\nNot under Outbox.",
        link_template="https://mail.test/{target}?key={key}",
        allowed_hosts="mail.test\nLOGS.mail.test",
        reference_pattern=r"250-\d+",
    )


@pytest.mark.parametrize(
    ("link", "status"),
    [
        ("https://mail.test/77", 302),
        ("https://MAIL.test/77", 302),
        ("http://logs.mail.test:8080/77", 302),
        ("https://evil.test/mail.test", 422),
        ("https://mail.test.evil.test/", 422),
        ("https://mail.test@evil.test/", 422),
        ("https://evil.test\\@mail.test/", 422),  # a browser goes to evil.test
        ("https://user:word@mail.test/77", 422),
    ],
)
def test_a_link_leads_to_a_host_of_its_system(
    sam: Browser, job: str, tool: Tool, link: str, status: int
) -> None:
    page = sam.send(PATH, **seen(link=link))
    assert page.status == status, page.text
    if status == 422:
        assert page.fields["link"] == link


def test_a_reference_that_looks_wrong_may_be_right(sam: Browser, job: str, tool: Tool) -> None:
    page = sam.send(PATH, **seen(reference="77"))
    assert page.status == 422
    assert "References of this system look different." in page.text
    again = sam.post(PATH, page.fields | seen(reference="77", reference_anyway="it is from the old list"))
    assert again.status == 302
    assert "Reference kept because: it is from the old list" in last(job).body


def test_an_administrators_slip_in_the_pattern_stops_nobody(sam: Browser, job: str, tool: Tool) -> None:
    tool.reference_pattern = "250-["
    tool.save()
    assert sam.send(PATH, **seen()).status == 302


def test_what_to_look_up_stands_beside_the_form(sam: Browser, job: str, tool: Tool) -> None:
    page = sam.get(PATH)
    for words in ("Key cb-", "System Mail house", "Under Sent. Not under Outbox.", "Look in Mail house"):
        assert words in page.text, words
    assert page.root.links["Look in Mail house"].startswith("https://mail.test/?key=cb-")
    assert "outcome" not in page.fields, "no outcome is chosen for anybody"


def test_the_form_says_how_the_job_will_then_read(sam: Browser, job: str) -> None:
    text = sam.get(PATH).text
    assert "The job will then read: “Stopped; 1 of 2 steps had happened”. An outcome is final." in text
    assert "The job will then read: “Failed; cancel confirmed, nothing more will start”." in text


def test_too_much_is_an_error_of_its_field(sam: Browser, job: str) -> None:
    for entered, field in (
        ({"saw": "語" * 2000}, "What you saw"),  # 6,000 bytes; the protocol takes 4,096
        ({"saw": "x" * 2001}, "What you saw"),
        ({"saw": "a bell rings in here \x07 somewhere"}, "What you saw"),
        ({"value": "a bell \x07"}, "Value"),
        ({"link": "https://mail.test/" + "語" * 900}, "Link"),
    ):
        page = sam.send(PATH, **seen(**entered))
        assert page.status == 422, entered
        assert f"{field}: " in page.node("errors").text, entered
    assert not Receipt.objects.filter(kind="reconcile").exists()


@pytest.mark.parametrize("event_id", ["", "-x", "a b", "é", "x" * 129, "~forged", "\x00"])
def test_a_damaged_form_is_no_failure(sam: Browser, job: str, event_id: str) -> None:
    page = sam.send(PATH, **seen(event_id=event_id))
    assert page.status == 422
    assert "This form is damaged: open it anew." in page.text


def test_evidence_of_an_earlier_step_is_not_asked_for(stage: Stage, sam: Browser) -> None:
    job = stage.begin("order-2")
    stage.report(job, 0, "ok", value="1")
    stage.reserve(job)
    stage.report(job, 1, "unknown")
    for n, status in ((0, False), (1, True), (2, False)):
        page = sam.get(f"/jobs/order-2/steps/{n}/outcome/")
        assert ("saw" in page.fields) is status, n
        assert ("This step is not out: there is no outcome of it to record." in page.text) is not status, n


def test_evidence_kinds_are_the_protocols(sam: Browser, job: str) -> None:
    offered = {node["value"] for node in sam.get(PATH).root.all("input") if node["name"] == "kind"}
    assert offered == {REFUSED.kind, "receiver_sealed", "not_found", "timed_out", "ambiguous", "other"}
    assert CONFIRMED.kind not in offered, "the one kind for “it happened” is no choice"
