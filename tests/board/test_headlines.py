"""Each headline on its page: one label, one sentence, the same words in both languages; dashed if and only if
something is not established; and never a bare "Cancelled" or "Stopped" (docs/http.md, headline)."""

import re

import pytest
from django.utils.translation import override

from runs.words import HEADLINES

from .cast import CONFIRMED, Browser, Stage, spec
from .pages import Page


def reach(stage: Stage, code: str) -> str:
    """A job of two steps under this headline, by the shortest way."""
    job = f"job-{list(HEADLINES).index(code)}"
    if code == "blocked_before_start":
        stage("system", job, "cancel", spec=spec("Send mail", "Send bill"), cause="user_requested")
        return job
    stage.submit(job, "Send mail", "Send bill")
    for move in WAYS[code].split():
        MOVES[move](stage, job)
    return job


MOVES = {
    "claim": lambda stage, job: stage.claim(job),
    "reserve": lambda stage, job: stage.reserve(job),
    "ok0": lambda stage, job: stage.report(job, 0, "ok", value="250"),
    "ok1": lambda stage, job: stage.report(job, 1, "ok", value="251"),
    "unknown": lambda stage, job: stage.report(job, 0, "unknown"),
    "rejected": lambda stage, job: stage.report(job, 0, "rejected"),
    "cancel": lambda stage, job: stage.cancel(job, "system"),
    "pause": lambda stage, job: stage("system", job, "pause"),
    "child": lambda stage, job: stage.submit(f"{job}-child", parent=job),
    "contradict": lambda stage, job: stage(
        "system",
        job,
        "reconcile",
        ordinal=0,
        outcome="rejected",
        evidence=CONFIRMED.model_copy(update={"kind": "receiver_refused"}),
    ),
}
WAYS = {
    "ready": "",
    "working": "claim reserve",
    "outcome_unknown": "claim reserve unknown",
    "paused": "pause",
    "verifying": "claim reserve cancel",
    "verifying_unknown": "claim reserve cancel unknown",
    "stopping": "child cancel",
    "stopped": "claim reserve cancel ok0",
    "completed_despite_cancel": "claim reserve ok0 reserve cancel ok1",
    "stopped_after_failure": "claim reserve cancel rejected",
    "blocked_before_start": "",
    "completed": "claim reserve ok0 reserve ok1",
    "failed": "claim reserve rejected",
    "completed_cancel_too_late": "claim reserve ok0 reserve ok1 cancel",
    "failed_cancel_too_late": "claim reserve rejected cancel",
}
#: Something is not established: a step is unknown, or a requested cancel is not yet confirmed.
DASHED = {"outcome_unknown", "verifying", "verifying_unknown", "stopping"}
SAYS = {
    "ready": "0 of 2 steps had happened. No cancel has been requested; the next step may start at any time.",
    "working": "Step 1 has been handed to its tool and has not answered yet.",
    "outcome_unknown": "Step 1 was sent and gave no usable answer: it may or may not have happened.",
    "paused": "0 of 2 steps had happened. No step is out and none will start until somebody resumes the job.",
    "verifying": "Step 1 has not answered and may still happen. One later step is held and will not be sent.",
    "verifying_unknown": "before the cancel arrived. Step 1 gave no usable answer:",
    "stopping": "No step of this job is out. The stop is about to be confirmed",
    "stopped": "1 of 2 steps had happened. That is kept and is not undone.",
    "completed_despite_cancel": "The cancel arrived while the last step was out, and that step happened.",
    "stopped_after_failure": "Step 1 did not happen. Nothing is out and nothing more will start.",
    "blocked_before_start": "The cancel came before the job.",
    "completed": "Every step happened.",
    "failed": "Step 1 did not happen, and nothing more will start.",
    "completed_cancel_too_late": "Every step had happened before the cancel arrived.",
    "failed_cancel_too_late": "Step 1 did not happen, before the cancel arrived.",
}

BARE = re.compile(r"\b(cancelled|canceled|stopped)\b|已取消|已停止", re.IGNORECASE)


def allowed() -> list[str]:
    """Where these words may stand: what may not be said yet, what the queue's head says of its jobs, and the
    label of `stopped` with what may be told of it."""
    phrases = ["Not yet: “stopped”, “cancelled”", "none of these may be called stopped."]
    phrases += ["暂不能说： “已停止”、“已取消”", "这些任务都不能称为已停止。"]
    for language in ("en", "zh-hans"):
        with override(language):
            stopped = HEADLINES["stopped"]
            phrases += [stopped.filled(text, 1, 2) for text in (stopped.label, stopped.tell)]
    return phrases


def edge(page: Page) -> str:
    classes = set(page.node("verdict")["class"].split())
    (found,) = classes & {"solid", "dashed", "double"}
    return found


def test_every_headline_is_reached_and_told() -> None:
    assert WAYS.keys() == SAYS.keys() == HEADLINES.keys()
    assert len(HEADLINES) == 15


@pytest.mark.parametrize("code", HEADLINES)
def test_the_page_of_each_headline(stage: Stage, lena: Browser, code: str) -> None:
    job = reach(stage, code)
    page, words = lena.get(f"/jobs/{job}/"), HEADLINES[code]
    total, done = 2, sum(state == "ok" for state in stage.row(job).steps.values_list("state", flat=True))
    label = words.filled(words.label, done, total)
    verdict = page.node("verdict")
    assert page.status == 200
    assert page.node("verdict-label").text == label
    assert SAYS[code] in verdict.text
    assert "None" not in page.text
    assert edge(page) == words.edge == ("dashed" if code in DASHED else "solid")
    assert page.node("tell").text.count("Not yet:") == (code in DASHED)
    tells = {str(words.tell) and words.filled(words.tell, done, total)}
    with override("zh-hans"):
        tells.add(str(words.tell) and words.filled(words.tell, done, total))
    for text in tells:
        assert text in page.node("tell").text
    assert len(tells) == (2 if any(tells) else 1), "told in both languages, or not at all"
    if not any(tells):
        assert "Nothing needs saying" in page.node("tell").text

    row = lena.get("/jobs/", q=job).node(f"row-{job}")
    assert label in row.text
    assert bool(row.all("span", "dashed")) is (code in DASHED)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("code", HEADLINES)
def test_no_bare_word_stands_anywhere(stage: Stage, lena: Browser, code: str, language: str) -> None:
    job = reach(stage, code)
    lena.client.cookies["django_language"] = language
    for path in (f"/jobs/{job}/", "/jobs/", "/verify/", "/tombstones/"):
        page = lena.get(path)
        text = page.node("results" if path == "/jobs/" else "main").text  # its filter names every headline
        phrases = allowed() if code == "stopped" else allowed()[:4]
        for phrase in phrases:
            text = text.replace(phrase, "")
        assert not BARE.search(text), BARE.search(text)


@pytest.mark.parametrize("code", [code for code, way in WAYS.items() if "ok0" in way])
def test_a_dispute_is_dashed_and_nothing_may_be_told(stage: Stage, lena: Browser, code: str) -> None:
    job = reach(stage, code)
    MOVES["contradict"](stage, job)
    page = lena.get(f"/jobs/{job}/")
    assert edge(page) == "dashed"
    assert "Disputed: reports differ" in page.node("verdict").text
    assert "Disputed: reports differ" in page.node("step-1").text
    tell = page.node("tell").text
    assert "Nothing yet: reports about a step differ" in tell
    assert "“stopped”" in tell
    assert not page.node("tell").all("p", "quote")
    row = lena.get("/jobs/", disputed="true").node(f"row-{job}")
    assert "Disputed: reports differ" in row.text
    stage("lena", job, "close_dispute", ordinal=0)
    assert edge(lena.get(f"/jobs/{job}/")) == HEADLINES[code].edge
    assert f"row-{job}" not in lena.get("/jobs/", disputed="true").html


def test_the_two_axes_stand_on_the_page_and_in_the_row(stage: Stage, lena: Browser) -> None:
    for code, control, result, line in (
        ("ready", "Run", "Open", "no cancel requested; 2 not sent"),
        ("verifying", "Requested", "Open", "cancel requested; 1 waiting for its answer, 1 held"),
        ("stopped", "Acknowledged", "Open", "stop confirmed; 1 happened, 1 held"),
        ("completed_despite_cancel", "Acknowledged", "Succeeded", "stop confirmed; 2 happened"),
        ("failed", "Run", "Failed", "no cancel requested; 1 did not, 1 held"),
        ("completed_cancel_too_late", "Run", "Succeeded", "cancel came too late; 2 happened"),
    ):
        job = reach(stage, code)
        page = lena.get(f"/jobs/{job}/")
        current = [node.text for node in page.node("verdict").every() if node["aria-current"] == "step"]
        assert current == [control, result], code
        assert line in lena.get("/jobs/", q=job).node(f"row-{job}").text, code


def test_the_words_page_tells_all_of_them_in_both_languages(lena: Browser) -> None:
    page = lena.get("/help/words/")
    for code, words in HEADLINES.items():
        row = page.node(code)
        for language, cell in zip(("en", "zh-hans"), row.all("td"), strict=True):
            with override(language):
                told = [
                    str(text).format(done="k", total="n") for text in (words.label, words.help, words.tell)
                ]
            assert all(text in cell.text for text in told), (code, language)
            assert cell["lang"].lower().startswith(language[:2])
        assert row.all("td")[0].text != row.all("td")[1].text
        assert "{" not in row.text


def test_a_reader_of_chinese_reads_the_label_in_chinese(stage: Stage, lena: Browser) -> None:
    job = reach(stage, "stopped")
    lena.client.cookies["django_language"] = "zh-hans"
    page = lena.get(f"/jobs/{job}/")
    assert 'lang="zh-Hans"' in page.html[:300]
    with override("zh-hans"):
        words = HEADLINES["stopped"]
        assert page.node("verdict-label").text == words.filled(words.label, 1, 2)
