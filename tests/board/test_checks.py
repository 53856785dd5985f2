"""What verifiers were told stands on the job page and beside the form; who may has it looked up again."""

import pytest
from django.conf import LazySettings

from runs import settle
from runs.models import Check, Tool
from runs.verifiers import Finding
from tests.verifiers.conftest import ORACLE, STEP, Oracle, verifier

from .cast import Browser, Stage

__all__ = ["verifier"]
JOB, CHECK = "/jobs/order-1/", "/jobs/order-1/steps/0/check/"


@pytest.fixture
def job(stage: Stage, verifier: Oracle) -> str:
    Tool.objects.create(tenant=stage.tenant, name="smtp/2", label="Mail house", verifier="oracle")
    return stage.unknown("order-1", STEP)


def looked(browser: Browser) -> str:
    return browser.get(JOB).node("looked").text


def test_before_the_first_look_up_it_says_so(job: str, sam: Browser) -> None:
    said = looked(sam)
    assert "Mail house" in said
    assert "none yet" in said
    assert "as soon as a settle loop comes by" in said


def test_the_last_answer_and_when_stand_on_the_job_page(job: str, sam: Browser) -> None:
    settle.one_pass()
    said = looked(sam)
    assert "Looked and found nothing: Nothing there." in said
    assert "look-ups: 1" in said
    assert sam.get(JOB).node("looked").all("time"), "with its time"


def test_check_again_asks_at_the_next_pass_and_names_who_asked(job: str, sam: Browser) -> None:
    settle.one_pass()
    assert len(ORACLE.asked) == 1
    Check.objects.update(answered_at=None)
    assert sam.post(CHECK, {}).goes_to == JOB
    assert "asked for by sam" in looked(sam) or "as soon as a settle loop comes by" in looked(sam)
    settle.one_pass()
    assert len(ORACLE.asked) == 2
    assert "Asked for by sam." in sam.get(JOB).node("timeline").text, "kept, although it was no news"


def test_pressing_it_often_does_not_ask_often(job: str, sam: Browser) -> None:
    settle.one_pass()
    for _ in range(3):
        sam.post(CHECK, {})
        settle.one_pass()
    assert len(ORACLE.asked) == 1


@pytest.mark.parametrize("who", ["omar", "aud", "olga"])
def test_who_may_not_record_outcomes_may_not_have_it_looked_up(
    job: str, stage: Stage, settings: LazySettings, who: str
) -> None:
    browser = stage.browser(who)
    card = browser.get(JOB).node("looked")
    assert not card.all("form")
    assert "Check again" in card.text, "with the reason"
    assert browser.post(CHECK, {}).status == 403
    assert not Check.objects.exists()


def test_who_may_not_see_the_job_learns_nothing(job: str, stage: Stage) -> None:
    assert stage.browser("ada").post(CHECK, {}).status == 404
    assert stage.browser("sam").post("/jobs/none/steps/0/check/", {}).status == 404


def test_a_step_that_is_not_unknown_is_not_looked_up(job: str, stage: Stage, lena: Browser) -> None:
    ORACLE.says = lambda question: Finding.happened("In the log.", "message 7")
    settle.one_pass()
    before = Check.objects.get().due_at
    lena.post(CHECK, {})
    assert Check.objects.get().due_at == before
    card = lena.get(JOB).node("looked")
    assert "The receiver confirmed it: In the log." in card.text
    assert not card.all("form")


def test_a_job_without_a_verifier_says_nothing_of_it(job: str, sam: Browser) -> None:
    Tool.objects.update(verifier="")
    assert "hidden" in sam.get(JOB).node("looked").attributes
    assert "Check again" not in sam.get("/jobs/order-1/steps/0/outcome/").text


def test_it_can_be_asked_for_beside_the_form(job: str, sam: Browser) -> None:
    settle.one_pass()
    page = sam.get("/jobs/order-1/steps/0/outcome/")
    assert "Looked and found nothing" in page.text
    (button,) = [node for node in page.root.all("button") if node["formaction"]]
    assert (button["formaction"], button.text) == (CHECK, "Check again")
    submits = [
        node for node in page.root.all("button") if node["type"] == "submit" and "btn" in node["class"]
    ]
    assert submits[-1]["formaction"] == CHECK, "Enter sends the form, not this"


def test_the_card_is_part_of_the_live_patch(job: str, sam: Browser) -> None:
    assert "looked" in sam.get(JOB, fragment=True, after=1).html
