"""Many jobs at once: what is shown before, that just that is asked, and what is shown after. No page says
more than the settle loop has done."""

from collections import Counter

import pytest

from runs.commands import operations
from runs.ledger import clock
from runs.models import Job, Operation, OperationJob, Receipt
from runs.permissions import Action, Actor, Line, Scope, grant
from runs.queries.foreseen import foreseen

from .cast import Browser, Stage
from .pages import Page

NEW = "/operations/new/"


def rows(page: Page) -> list[str]:
    return [css_id.removeprefix("row-") for css_id in page.root.ids if css_id.startswith("row-")]


def work() -> None:
    operations.work_off(clock())


@pytest.fixture
def jobs(stage: Stage) -> None:
    """Two that run, one that was asked before, one that has ended; and one of another queue."""
    stage.submit("order-1")
    stage.submit("order-2")
    stage.cancel(stage.submit("asked"))
    stage.begin("ended", "One mail")
    stage.report("ended", 0, "ok")
    stage.submit("book", queue="ledger", owner="customer-2")


def take_on(browser: Browser, path: str, **fields: str) -> str:
    given = {"cause": "operator_requested", "note": "A wrong list."} | fields
    sent = browser.send(path, **given)
    assert sent.status == 302, sent.text
    return sent.goes_to


def test_it_shows_what_each_would_be_answered_and_asks_nothing(lena: Browser, jobs: None) -> None:
    page = lena.get(f"{NEW}?queue=mail")
    assert "Ask to cancel 4 jobs?" in page.text
    shown = page.node("answers").text
    for words in ("2 would be requested.", "1 was requested before.", "1 has ended."):
        assert words in shown, words
    assert "Queue mail" in page.text
    assert not Operation.objects.exists()
    assert Job.objects.filter(control="requested").count() == 0


def test_who_is_refused_and_why(stage: Stage, jobs: None) -> None:
    page = stage.browser("omar").get(f"{NEW}?job=order-1&job=book&job=nothing")
    assert "Ask to cancel 3 jobs?" in page.text
    shown = page.node("answers").text
    for words in ("1 would be requested.", "1 is refused to you", "1 you may not see"):
        assert words in shown, words
    refused = page.node("refused")
    assert "Send welcome mail book You have no right to do this here." in refused.text
    assert refused.links["Send welcome mail"] == "/jobs/book/"


def test_a_single_job_may_be_forbidden_where_its_queue_is_allowed(stage: Stage, jobs: None) -> None:
    line = Line(Action.CANCEL, Scope.JOB, job="order-1", allows=False)
    grant(Actor.system(stage.tenant), stage.people["omar"], [line])
    page = stage.browser("omar").get(f"{NEW}?job=order-1&job=order-2")
    assert "1 would be requested." in page.node("answers").text
    assert "order-1 A rule forbids this to you here." in page.node("refused").text


def test_the_list_that_was_seen_is_the_list_that_is_asked(stage: Stage, lena: Browser, jobs: None) -> None:
    there = take_on(lena, f"{NEW}?queue=mail&headline=ready", title="Wrong list")
    receipt = Receipt.objects.get(kind="operate")
    page = lena.get(there)
    assert page.text.count("Not asked yet") == 2
    assert "0 of 2 answered" in page.node("progress").text
    assert "2 jobs will be asked, each by itself. Nothing is known of them yet." in page.text
    assert Job.objects.get(job_id="order-1").control == "run", "the page asked, nobody did it yet"
    assert '"note":"A wrong list."' in receipt.body.replace('": "', '":"')
    work()
    after = lena.get(there)
    assert rows(after) == ["order-1", "order-2"]
    assert "2 of 2 answered" in after.node("progress").text
    assert "Every job was answered" in after.text
    row = after.node("row-order-1").text
    assert "Cancel requested What is out may still happen" in row
    assert "Stopped" in row, "beside the answer, what the job is now"
    assert "Wrong list" in lena.get("/operations/").text


def test_what_is_foreseen_is_what_the_protocol_answers(stage: Stage, lena: Browser, jobs: None) -> None:
    """The page counts by columns what the table of `cancel` decides job by job."""
    stage.unknown("doubtful")
    stage.cancel(stage.unknown("asked-2"))
    stage.begin("refused", "One mail")
    stage.report("refused", 0, "rejected")
    stage.cancel(stage.begin("both", "One mail"))
    stage.report("both", 0, "ok")
    foreseen_now = foreseen(stage.actors["lena"], conditions={"queue": "mail"}).answers
    take_on(lena, f"{NEW}?queue=mail")
    work()
    assert foreseen_now == Counter(OperationJob.objects.values_list("status", flat=True))
    assert set(foreseen_now) == {"requested", "already_requested", "too_late"}


def test_a_list_that_changed_meanwhile_is_shown_anew(stage: Stage, lena: Browser, jobs: None) -> None:
    path = f"{NEW}?queue=mail&headline=ready"
    fields = lena.fill(path, cause="operator_requested", note="A wrong list.")
    stage.submit("order-3")
    again = lena.post(path, fields)
    assert again.status == 409
    assert "The list changed while you looked." in again.text
    assert "Ask to cancel 3 jobs?" in again.text
    assert again.fields["note"] == "A wrong list.", "the text is kept"
    assert not Operation.objects.exists()
    assert again.fields["event_id"] != fields["event_id"]
    assert lena.post(path, again.fields | {"anyhow": ""}).status == 302
    assert Operation.objects.get().jobs == 3


def test_a_list_that_never_stands_still_is_taken_by_ones_own_word(
    stage: Stage, lena: Browser, jobs: None
) -> None:
    path = f"{NEW}?queue=mail&headline=ready"
    fields = lena.fill(path, cause="operator_requested", note="A wrong list.")
    stage.submit("order-3")
    assert lena.post(path, fields | {"anyhow": "on"}).status == 302


def test_the_same_form_twice_is_one_operation(lena: Browser, jobs: None) -> None:
    path = f"{NEW}?job=order-1"
    fields = lena.fill(path, cause="operator_requested", note="Twice.")
    first, second = lena.post(path, fields), lena.post(path, fields)
    assert first.goes_to == second.goes_to
    assert Operation.objects.count() == 1
    event = lena.get(f"/events/{fields['event_id']}/")
    assert "This was saved" in event.text
    assert event.root.links["Open the operation"] == first.goes_to


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"note": ""}, "Reason"), ({"cause": ""}, "Cause"), ({"cause": "work_finished"}, "Cause")],
)
def test_cause_and_reason_are_asked_for(
    lena: Browser, jobs: None, fields: dict[str, str], words: str
) -> None:
    sent = lena.send(f"{NEW}?job=order-1", **({"cause": "operator_requested", "note": "x"} | fields))
    assert sent.status == 422
    assert words in sent.node("errors").text
    assert not Operation.objects.exists()


def test_without_a_choice_there_is_nothing_to_ask(lena: Browser, jobs: None) -> None:
    page = lena.get(NEW)
    assert "Nothing is chosen" in page.text
    assert lena.get(f"{NEW}?headline=nonsense").status == 404
    assert lena.get(f"{NEW}?queue=a%00b").status == 404


def test_too_many(lena: Browser, jobs: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.queries.foreseen.MOST", 2)
    monkeypatch.setattr("runs.board.bulk.MOST", 2)
    page = lena.get(f"{NEW}?queue=mail")
    assert "More than 2 jobs match: narrow the filter" in page.text
    assert "Ask to cancel" not in [button.text for button in page.root.all("button")]


def test_who_may_cancel_nothing_is_not_offered_it(stage: Stage, jobs: None) -> None:
    sam = stage.browser("sam")
    assert sam.get(f"{NEW}?job=order-1").status == 403
    assert not sam.get("/jobs/?queue=mail").has("ticked")
    assert not sam.get("/jobs/").root.all("input", "job")


def test_the_list_of_jobs_leads_there(lena: Browser, jobs: None) -> None:
    page = lena.get("/jobs/", queue="mail", headline="ready")
    ticks = [node for node in page.root.all("input") if node["name"] == "job"]
    assert [node["value"] for node in ticks] == ["order-2", "order-1"]
    assert {node["form"] for node in ticks} == {"ticked"}
    assert page.node("ticked")["action"] == NEW
    link = page.root.links["Ask to cancel all that match…"]
    assert "Ask to cancel 2 jobs?" in lena.get(link).text
    assert "Ask to cancel all that match…" not in lena.get("/jobs/").root.links, "without a filter: every job"


def test_a_refusal_at_its_turn_is_said_with_its_reason(stage: Stage, jobs: None) -> None:
    omar = stage.browser("omar")
    there = take_on(omar, f"{NEW}?job=order-1&job=book")
    work()
    page = omar.get(there)
    assert "Refused You have no right to do this here." in page.node("row-book").text
    assert "1 Cancel requested" in page.node("progress").text
    assert "1 Refused" in page.node("progress").text
    only = omar.get(there, status="no_grant")
    assert rows(only) == ["book"]
    assert rows(omar.get(there, status="waiting")) == []


def test_abort(stage: Stage, lena: Browser, jobs: None) -> None:
    there = take_on(lena, f"{NEW}?job=order-1&job=order-2")
    link = lena.get(there).root.links["Abort…"]
    form = lena.get(link)
    assert "2 of 2 jobs were not asked yet, and will not be." in form.text
    assert lena.send(link, note="Wrong after all.").goes_to == there
    work()
    page = lena.get(there)
    assert "Aborted: no further job of it is asked." in page.text
    assert page.text.count("Not asked") >= 2
    assert "Not asked yet" not in page.text
    assert "Aborted by lena" in page.text
    assert "Abort…" not in page.root.links
    assert Job.objects.filter(control="run", job_id__startswith="order").count() == 2
    assert lena.send(link).goes_to == there, "a second abort changes nothing"
    assert "It had ended already." in lena.get(there).text


def test_who_sees_and_who_aborts(stage: Stage, jobs: None) -> None:
    there = take_on(stage.browser("omar"), f"{NEW}?job=order-1&job=book")
    sam, olga, lena = (stage.browser(name) for name in ("sam", "olga", "lena"))
    assert rows(sam.get(there)) == ["order-1", "book"], "who sees the whole tenant"
    assert "Abort…" not in sam.get(there).root.links
    assert sam.get(f"{there}abort/").status == 403
    assert "Abort…" in lena.get(there).root.links, "who may cancel anywhere"
    for path in (there, f"{there}abort/"):
        assert olga.get(path).status == 404
    assert rows(olga.get("/operations/")) == []
    assert olga.get("/operations/op-00000000000000000000/").status == 404
    forged = sam.post(f"{there}abort/", {"event_id": "b-1"})
    assert forged.status == 403
    assert Operation.objects.get().state == "open"


def test_of_its_jobs_one_sees_those_one_may_see(stage: Stage, jobs: None) -> None:
    olga = stage.browser("olga")
    there = take_on(olga, f"{NEW}?job=order-1&job=order-2")
    line = Line(Action.VIEW, Scope.JOB, job="order-2", allows=False)
    grant(Actor.system(stage.tenant), stage.people["olga"], [line])
    assert rows(olga.get(there)) == ["order-1"]


def test_live_rows_and_progress(stage: Stage, lena: Browser, jobs: None) -> None:
    there = take_on(lena, f"{NEW}?job=order-1&job=order-2")
    assert "data-poll" in lena.get(there).node("results").attributes
    work()
    patch = lena.get(there, fragment=True, jobs="order-2")
    assert rows(patch) == ["order-2"]
    assert patch.html.index("<tr") < patch.html.index("<section"), "a browser drops rows that come later"
    assert "2 of 2 answered" in patch.node("progress").text
    assert "data-poll" not in lena.get(there).node("results").attributes


def test_pages(stage: Stage, lena: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.queries.operation_page.PAGE", 2)
    monkeypatch.setattr("runs.board.operations.PAGE", 2)
    for n in range(3):
        stage.submit(f"order-{n}")
    theres = [take_on(lena, f"{NEW}?queue=mail", title=f"No. {n}") for n in range(3)]
    first = lena.get(theres[0])
    second = lena.get(first.root.links["Next page"])
    assert rows(first) + rows(second) == ["order-0", "order-1", "order-2"]
    assert second.root.links["First page"] == theres[0]
    history = lena.get("/operations/")
    titles = rows(history) + rows(lena.get(history.root.links["Next page"]))
    assert [f"/operations/{each}/" for each in titles] == theres[::-1]
