"""Pause, resume, revoke, close a dispute: one form each, one receipt each."""

import pytest

from runs.board.deeds import DIALOGS
from runs.models import Receipt

from .cast import CONFIRMED, Browser, Stage
from .pages import Page


def path(name: str) -> str:
    return f"/jobs/order-1/{name}/"


def statuses(kind: str) -> list[str]:
    return list(Receipt.objects.filter(kind=kind).order_by("pk").values_list("status", flat=True))


def next_of(page: Page) -> str:
    return page.node("next").text


def test_pause_and_resume(stage: Stage, omar: Browser) -> None:
    job = stage.submit("order-1")
    assert "Pause this job?" in omar.get(path("pause")).text
    assert omar.send(path("pause"), cause="paused_by_user", note="A moment.").goes_to == "/jobs/order-1/"
    page = omar.get("/jobs/order-1/")
    assert "Paused." in page.node("messages").text
    assert page.node("verdict-label").text == "Paused"
    assert "Paused by the user. Note: A moment." in page.text
    assert page.node("next").links["Resume…"] == path("resume")
    assert "Pause…" not in page.node("next").links
    assert omar.send(path("resume"), cause="other").status == 302
    assert stage.row(job).paused_at is None
    assert omar.get("/jobs/order-1/").node("verdict-label").text == "Running"


@pytest.mark.parametrize(
    ("name", "first", "said"),
    [
        ("pause", "pause", "Somebody else paused it first."),
        ("resume", "resume", "Somebody else resumed it first."),
    ],
)
def test_what_somebody_did_first_is_not_called_ones_own(
    stage: Stage, omar: Browser, name: str, first: str, said: str
) -> None:
    job = stage.submit("order-1")
    if name == "resume":
        stage("omar", job, "pause")
    filled = omar.fill(path(name), cause="other", note="Mine.")
    stage("system", job, first)
    page = omar.post(path(name), filled)
    assert (page.status, said in page.text, page.fields["note"]) == (409, True, "Mine.")
    assert "Paused." not in omar.get("/jobs/order-1/").node("messages").text
    assert statuses(name) == [f"{name}d", {"pause": "already_paused", "resume": "not_paused"}[name]]


def test_nothing_to_pause_after_a_cancel(stage: Stage, omar: Browser) -> None:
    job = stage.begin("order-1")
    filled = omar.fill(path("pause"), cause="other")
    stage.cancel(job)
    assert "Nothing more will start, so there is nothing to pause." in next_of(omar.get("/jobs/order-1/"))
    assert "Nothing more will start, so there is nothing to pause." in omar.get(path("pause")).text
    page = omar.post(path("pause"), filled)
    assert page.status == 409
    assert statuses("pause") == ["too_late"]


def test_revoke_takes_the_claim_from_a_worker_that_is_named(stage: Stage, lena: Browser) -> None:
    job = stage.begin("order-1")
    page = lena.get(path("revoke"))
    assert "Take this job away from worker worker-1?" in page.text
    assert "This cannot be taken back." in page.text
    assert lena.post(path("revoke"), page.fields | {"cause": "operator_requested"}).status == 302
    row = stage.row(job)
    assert (row.holder, row.cur) == ("", "unknown")
    page = lena.get("/jobs/order-1/")
    assert "Claim revoked." in page.text
    assert "From here, step 1 is unknown: it may or may not have happened." in page.node("timeline").text
    assert "No worker holds a claim." in next_of(page)


def test_somebody_revoked_it_first(stage: Stage, lena: Browser) -> None:
    job = stage.begin("order-1")
    filled = lena.fill(path("revoke"), cause="other")
    stage("omar", job, "revoke")
    page = lena.post(path("revoke"), filled)
    assert (page.status, "No worker holds a claim any more." in page.text) == (409, True)
    assert statuses("revoke") == ["revoked", "no_claim"]


def disputed(stage: Stage, *ordinals: int) -> str:
    """Steps that a worker reported as happened, and sam's look says did not."""
    job = stage.begin("order-1")
    for ordinal in ordinals:
        if ordinal:
            stage.reserve(job)
        stage.report(job, ordinal, "ok", value="250")
        stage(
            "system",
            job,
            "reconcile",
            ordinal=ordinal,
            outcome="rejected",
            evidence=CONFIRMED.model_copy(update={"kind": "receiver_refused"}),
        )
    return job


def test_a_dispute_is_closed_with_a_note(stage: Stage, sam: Browser) -> None:
    job = disputed(stage, 0)
    page = sam.get("/jobs/order-1/")
    assert "Nothing yet: reports about a step differ, and nobody has closed the dispute." in page.text
    form = sam.get(path("close_dispute"))
    assert "Close the dispute about step 1?" in form.text
    missing = sam.post(path("close_dispute"), form.fields)
    assert (missing.status, missing.fields["ordinal"]) == (422, "0")
    done = sam.post(path("close_dispute"), form.fields | {"note": "Both mean the same message."})
    assert done.status == 302
    assert stage.row(job).disputed == 0
    page = sam.get("/jobs/order-1/")
    assert "Dispute about step 1 closed" in page.text
    assert "Note: Both mean the same message." in page.text
    assert "close_dispute" not in " ".join(page.node("next").links.values())
    assert "Reports about its steps do not differ." in sam.get(path("close_dispute")).text


def test_the_form_closes_the_dispute_that_it_was_opened_for(stage: Stage, sam: Browser) -> None:
    """Sent twice it is a replay, also while another step is still disputed."""
    job = disputed(stage, 0, 1)
    filled = sam.fill(path("close_dispute"), note="It is the same message.")
    assert [sam.post(path("close_dispute"), filled).status for _ in range(2)] == [302, 302]
    assert statuses("close_dispute") == ["dispute_closed"]
    assert list(stage.row(job).steps.filter(disputed=True).values_list("ordinal", flat=True)) == [1]
    assert "Close the dispute about step 2?" in sam.get(path("close_dispute")).text


def test_somebody_closed_it_first(stage: Stage, sam: Browser) -> None:
    job = disputed(stage, 0)
    filled = sam.fill(path("close_dispute"), note="It is the same message.")
    stage("lena", job, "close_dispute", ordinal=0)
    page = sam.post(path("close_dispute"), filled)
    assert page.status == 409
    assert "The dispute is closed already." in page.text
    assert page.fields["note"] == "It is the same message."


@pytest.mark.parametrize("ordinal", ["", "-1", "7777", "9" * 5000, "x", "²"])
def test_a_damaged_form_is_no_failure(stage: Stage, sam: Browser, ordinal: str) -> None:
    disputed(stage, 0)
    filled = sam.fill(path("close_dispute"), note="It is the same message.", ordinal=ordinal)
    assert sam.post(path("close_dispute"), filled).status == 422
    assert stage.row("order-1").disputed == 1


@pytest.mark.parametrize("name", ["pause", "resume", "revoke", "close_dispute"])
def test_every_dialog_says_whether_it_can_be_taken_back(stage: Stage, name: str) -> None:
    dialog = DIALOGS[name]
    assert all(str(text) for text in (dialog.title, dialog.body, dialog.submit, dialog.reversible))
