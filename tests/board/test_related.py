"""The jobs below a job stand on its page, each with its own two axes, for who may see them; and the one that
its stop waits for is named."""

from runs.permissions import Action, Line, Scope, grant

from .cast import Browser, Stage

PATH = "/jobs/top-1/"


def family(stage: Stage) -> None:
    """top-1 over a-1 (over low-1) and b-1; all but low-1 of customer-1."""
    stage.submit("top-1", "Run the agent")
    stage.submit("a-1", "Plan", parent="top-1")
    stage.submit("b-1", "Write", parent="top-1")
    stage.submit("low-1", "Search", parent="a-1", owner="customer-2")


def rows(browser: Browser, path: str = PATH) -> list[str]:
    return [each.text for each in browser.get(path).node("related").all("li")]


def note(browser: Browser) -> str:
    return " ".join(each.text for each in browser.get(PATH).node("related").all("p", "note"))


def finish(stage: Stage, job: str, outcome: str = "ok") -> None:
    stage.claim(job)
    stage.reserve(job)
    stage.report(job, 0, outcome)


def test_each_below_has_its_own_control_and_result(stage: Stage, sam: Browser) -> None:
    family(stage)
    stage.claim("low-1")
    stage.reserve("low-1")
    finish(stage, "b-1")
    stage.cancel("a-1")
    told = rows(sam)
    assert told == [
        "Level 1: Plan a-1 Control Cancel requested Result Open",
        "Level 2: Search low-1 Control Run Result Waiting for answer",
        "Level 1: Write b-1 Control Run Result Succeeded",
    ]


def test_links_lead_down_and_up(stage: Stage, sam: Browser) -> None:
    family(stage)
    assert sam.get(PATH).node("related").links["Search"] == "/jobs/low-1/"
    assert sam.get("/jobs/a-1/").node("related").links["Run the agent"] == PATH


def test_the_child_that_the_stop_waits_for_is_named(stage: Stage, sam: Browser) -> None:
    """The deepest: with it the others end too."""
    family(stage)
    finish(stage, "b-1")
    stage.cancel("top-1")
    assert "waits for low-1" in note(sam)
    assert "waits for low-1 below it" in sam.get(PATH).node("ladder").text
    finish(stage, "low-1")
    assert "waits for a-1" in note(sam)
    finish(stage, "a-1")
    assert note(sam) == ""
    assert stage.row("top-1").control == "acknowledged"


def test_nothing_waits_before_a_cancel(stage: Stage, sam: Browser) -> None:
    family(stage)
    assert note(sam) == ""


def test_who_may_not_see_a_job_below_does_not(stage: Stage) -> None:
    family(stage)
    finish(stage, "a-1")
    finish(stage, "b-1")
    stage.cancel("top-1")
    olga = stage.browser("olga")
    assert [each.split()[2] for each in rows(olga)] == ["Plan", "Write"]
    page = olga.get(PATH)
    assert "low-1" not in page.html
    assert "an unfinished job below it that you may not see" in page.node("related").text


def test_who_may_not_see_the_parent_does_not(stage: Stage) -> None:
    family(stage)
    seen = [Line(Action.VIEW, Scope.JOB, job="low-1")]
    grant(stage.actors["system"], stage.people["olga"], seen)
    page = stage.browser("olga").get("/jobs/low-1/")
    assert page.status == 200
    assert "a-1" in page.html, "olga is customer-1"
    stage.submit("other-1", "Other", owner="customer-2")
    stage.submit("mine-1", "Mine", owner="customer-1", parent="other-1")
    page = stage.browser("olga").get("/jobs/mine-1/")
    assert "other-1" not in page.node("related").text


def test_a_job_alone_has_no_such_part(stage: Stage, sam: Browser) -> None:
    stage.submit("top-1")
    assert "hidden" in sam.get(PATH).node("related").attributes
