"""Second person (UX, four eyes): the list, the page on which an entry is decided, and what becomes of one."""

import re
from datetime import timedelta

import pytest

from runs.models import Grant, Proposal, Receipt, Refusal, Step
from runs.permissions import Action, Actor, Line, Scope, grant

from .cast import CONFIRMED, REFUSED, Browser, Stage
from .pages import Page

YOURS, OPEN, MINE, DECIDED = (f"/approvals/?show={tab}" for tab in ("yours", "open", "mine", "decided"))


def enter(stage: Stage, job: str, who: str = "sam", outcome: str = "ok", **given: object) -> str:
    """An unknown first step, and an entry about it; returns the entry's page."""
    stage.unknown(job, queue="books")
    return again(stage, job, who, outcome, **given)


def again(stage: Stage, job: str, who: str, outcome: str = "ok", value: str = "v") -> str:
    evidence = CONFIRMED if outcome == "ok" else REFUSED
    said = {"value": value} if outcome == "ok" else {}
    answer = stage(who, job, "reconcile", ordinal=0, outcome=outcome, evidence=evidence, **said)
    assert answer.status == "proposed"
    return f"/approvals/{answer.fields['proposal']}/"


def listed(page: Page) -> set[str]:
    return {css_id.removeprefix("row-") for css_id in page.root.ids if css_id.startswith("row-")}


def id_of(path: str) -> str:
    return path.split("/")[2]


@pytest.fixture
def two(stage: Stage) -> Stage:
    """In the queue `books` two people record an outcome; sam may enter there, and omar may approve too."""
    system = Actor.system(stage.tenant)
    grant(system, stage.people["sam"], [Line(Action.RECONCILE, Scope.QUEUE, queue="books")])
    grant(system, stage.people["omar"], [Line(Action.APPROVE, Scope.QUEUE, queue="books")])
    return stage


def test_an_entry_waits_for_somebody_else(two: Stage, lena: Browser, sam: Browser) -> None:
    path = enter(two, "order-1")
    assert listed(lena.get(YOURS)) == listed(lena.get(OPEN)) == {id_of(path)}
    assert "Nothing needs a second person from you." in sam.get("/approvals/").text
    assert listed(sam.get(MINE)) == {id_of(path)}
    row = lena.get("/approvals/").node(f"row-{id_of(path)}").text
    for words in (
        "Send welcome mail",
        "customer-1",
        "it happened",
        "The receiver confirmed it",
        "by sam",
        "left",
    ):
        assert words in row
    assert "Review entry" in lena.get("/verify/").node("row-order-1").text
    assert "Waiting for a second person" in sam.get("/verify/").node("row-order-1").text


def test_approving_establishes_it_and_names_both(two: Stage, lena: Browser) -> None:
    path = enter(two, "order-1")
    page = lena.get(path)
    assert page.status == 200
    assert "In the receiver's log." in page.text
    assert "Approve “it happened”" in page.text
    assert "Once approved, the job will read" in page.text
    sent = lena.send(path, note="I saw it in their log, too.")
    assert (sent.status, sent.goes_to) == (302, "/jobs/order-1/")
    job = lena.get("/jobs/order-1/")
    assert re.search(r"Entry for step 1 approved: it happened .*Entered by sam\. .*lena", job.text)
    assert "I saw it in their log, too." in job.text
    assert job.node("step-1").all("span", "double"), "established and approved: a double edge"
    assert Step.objects.get(job__job_id="order-1", ordinal=0).state == "ok"
    assert listed(lena.get(YOURS)) == set()
    assert listed(lena.get(DECIDED)) == {id_of(path)}
    assert "Approved" in lena.get(path).text
    assert not lena.get(path).root.all("button", "pri"), "there is nothing left to press"


def test_nobody_approves_what_they_entered_whatever_they_send(two: Stage) -> None:
    grant(Actor.system(two.tenant), two.people["sam"], [Line(Action.APPROVE)])
    path, sam = enter(two, "order-1"), two.browser("sam")
    page = sam.get(path)
    assert page.status == 200, "it may be read"
    assert "You proposed this outcome: another person must look at it." in page.text
    assert "Approve “" not in page.text
    before = Receipt.objects.count()
    for fragment in (False, True):
        forged = sam.post(path, {"event_id": "forged-1", "note": ""}, fragment=fragment)
        assert forged.status == 403
        assert "another person must look at it" in forged.text
    assert Receipt.objects.count() == before
    assert Refusal.objects.get(code="same_person").count == 2
    assert sam.get("/verify/").status == 200, "the session is as it was"


def test_who_may_not_approve_reads_and_is_told_who_may(two: Stage) -> None:
    path = enter(two, "order-1")
    aud = two.browser("aud").get(path)
    assert aud.status == 200
    assert "A rule forbids this to you here." in aud.text
    assert "lena and 1 other may." in aud.text, "names are for who may export"
    olga = two.browser("olga").get(path)
    assert "2 others here may." in olga.text
    assert "lena" not in olga.text
    assert two.browser("ada").get(path).status == 404
    assert two.browser("ada").get("/approvals/p-00000000000000000000/").status == 404
    assert two.browser("olga").post(path, {"event_id": "e-x"}).status == 403


def test_sending_back_needs_a_reason_and_keeps_the_entry(two: Stage, lena: Browser) -> None:
    path = enter(two, "order-1")
    assert "Send back to sam?" in lena.get(f"{path}decline/").text
    assert lena.send(f"{path}decline/").status == 422
    assert lena.send(f"{path}decline/", note="   ").status == 422
    assert Proposal.objects.get().state == "open"
    sent = lena.send(f"{path}decline/", reason="I saw something else there.", note="Their log says 550.")
    assert sent.status == 302
    assert Proposal.objects.get().state == "declined"
    job = lena.get("/jobs/order-1/").text
    assert "Entry for step 1 sent back" in job
    assert "I saw something else there. Their log says 550." in job
    assert Step.objects.get(job__job_id="order-1", ordinal=0).state == "unknown"
    assert "Sent back" in two.browser("sam").get(MINE).node(f"row-{id_of(path)}").text
    assert again(two, "order-1", "sam") != path, "it may be entered anew"


def test_ones_own_entry_is_withdrawn(two: Stage, sam: Browser, lena: Browser) -> None:
    path = enter(two, "order-1")
    assert "Withdraw your entry for step 1?" in sam.get(f"{path}decline/").text
    assert sam.send(f"{path}decline/", note="A slip of the pen.").status == 302
    assert Proposal.objects.get().state == "withdrawn"
    assert "Entry for step 1 withdrawn" in sam.get("/jobs/order-1/").text
    receipt = Receipt.objects.get(kind="decline")
    assert (receipt.status, receipt.actor_name) == ("declined", "sam")
    assert lena.send(path).status == 409
    assert "Somebody decided this entry meanwhile." in lena.send(path).text


def test_somebody_without_a_part_in_it_neither_sends_back_nor_withdraws(two: Stage) -> None:
    path = enter(two, "order-1")
    for name in ("aud", "olga"):
        browser = two.browser(name)
        assert browser.get(f"{path}decline/").status == 403
        assert browser.post(f"{path}decline/", {"event_id": "e-x", "note": "no"}).status == 403
    assert Proposal.objects.get().state == "open"


def test_what_happened_meanwhile_ends_it(two: Stage, lena: Browser) -> None:
    same, other = enter(two, "order-1"), enter(two, "order-2")
    two.report("order-1", 0, "ok", value="v")
    two.report("order-2", 0, "rejected")
    assert listed(lena.get(OPEN)) == set()
    assert "Settled by the same outcome" in lena.get(DECIDED).node(f"row-{id_of(same)}").text
    assert "Superseded: the step changed" in lena.get(DECIDED).node(f"row-{id_of(other)}").text
    page = lena.get(other)
    assert "The step was settled otherwise: it did not happen." in page.text
    assert lena.post(other, {"event_id": "e-late", "note": ""}).status == 409
    assert Receipt.objects.get(event_id="e-late").status == "superseded"


def test_after_a_day_it_has_ended(two: Stage, lena: Browser) -> None:
    path = enter(two, "order-1")
    Proposal.objects.update(expires_at=two.clock() - timedelta(seconds=5))
    assert listed(lena.get(OPEN)) == set()
    assert "Ended after 24 hours" in lena.get(path).text
    assert lena.post(path, {"event_id": "e-late", "note": ""}).status == 409
    assert Receipt.objects.get(event_id="e-late").status == "expired"


def test_testimony_that_says_otherwise_is_marked(two: Stage, lena: Browser) -> None:
    job = two.begin("order-1", queue="books")
    two("lena", job, "revoke", cause="other")
    assert two.report(job, 0, "ok", value="w").status == "fenced"
    path = again(two, job, "sam", "rejected")
    assert "Worker worker-1 says otherwise: it happened. Value: w" in lena.get(path).text


def test_where_nobody_could_approve_it_says_so(two: Stage, sam: Browser) -> None:
    path = enter(two, "order-1")
    assert "can be approved by nobody" not in sam.get(OPEN).text
    for row in Grant.objects.filter(action="approve", effect="allow"):
        row.revoked_at = two.clock()
        row.save()
    page = sam.get(OPEN)
    assert "1 entry here can be approved by nobody." in page.text
    assert "Nobody could approve this." in page.node(f"row-{id_of(path)}").text
    assert "Nobody here may at present." in two.browser("aud").get(path).text


def test_a_queue_without_an_approver_is_named_before_anything_waits(two: Stage, sam: Browser) -> None:
    assert "nobody may approve" not in sam.get(OPEN).text
    for row in Grant.objects.filter(action="approve", effect="allow"):
        row.revoked_at = two.clock()
        row.save()
    red = [node.text for node in sam.get(OPEN).root.all("div", "notice") if "bad" in node["class"]]
    assert any("the queues books, shop need two people, and nobody may approve" in text for text in red)
    assert "nobody may approve" not in two.browser("olga").get(OPEN).text, "who sees no job of them"


def test_the_only_approver_is_who_entered_it(two: Stage, lena: Browser) -> None:
    for row in Grant.objects.filter(user=two.people["omar"], action="approve"):
        row.revoked_at = two.clock()
        row.save()
    enter(two, "order-1", who="lena")
    assert "1 entry here can be approved by nobody." in lena.get(MINE).text


def test_pages_of_entries_come_in_the_order_they_expire(
    two: Stage, lena: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.queries.approvals.PAGE", 2)
    paths = [id_of(enter(two, f"order-{n}")) for n in range(3)]
    first = lena.get(OPEN)
    second = lena.get(first.root.links["Next page"])
    seen = [
        i.removeprefix("row-") for page in (first, second) for i in page.root.ids if i.startswith("row-p")
    ]
    assert seen == paths
    assert lena.get("/approvals/?cursor=mine").status == 422
    assert listed(lena.get("/approvals/?show=nonsense")) == set(paths[:2])


def test_the_rail_counts_what_waits_for_the_reader(two: Stage, lena: Browser, sam: Browser) -> None:
    enter(two, "order-1")
    links = {
        text.split(" ")[0]: text for text in lena.get("/jobs/").root.links if text.startswith("Approvals")
    }
    assert links["Approvals"] == "Approvals 1"
    assert "Approvals" in sam.get("/jobs/").root.links
