"""Who sees which page and may send which form (docs/permissions.md, the matrix). What one may not see and
what is not there answer alike."""

from typing import Any

import pytest
from django.utils import timezone

from runs.commands import do
from runs.models import Grant, Queue, Receipt, Refusal, Tenant, User
from runs.permissions import Actor
from runs.protocol.asks import Submit

from .cast import Browser, Stage, spec

PEOPLE = ("sam", "lena", "omar", "olga", "aud", "ada")
NOBODY = ""
#: By job: who may what, written out.
MATRIX = {
    "mail-1": {
        "view": "sam lena omar olga aud",
        "cancel": "lena omar olga",
        "pause": "omar",
        "revoke": "lena omar",
        "steps/0/outcome": "sam lena",
    },
    "mail-2": {
        "view": "sam lena omar aud",
        "cancel": "lena omar",
        "pause": "omar",
        "revoke": "lena omar",
        "steps/0/outcome": "sam lena",
    },
    "ledger-2": {
        "view": "sam lena omar aud",
        "cancel": "lena",
        "pause": NOBODY,
        "revoke": "lena",
        "steps/0/outcome": "lena",
    },
}
EVIDENCE = {
    "outcome": "ok",
    "where": "console",
    "looked_at": "2027-01-01T00:00",
    "reference": "250-77",
    "saw": "It stands in their list of sent mails.",
}


def expected(name: str, job: str, deed: str) -> int:
    """The status of the page: 404 where the job may not be seen, 403 where a right is missing."""
    allowed = MATRIX[job]
    if name not in allowed["view"].split():
        return 404
    return 200 if name in allowed[deed].split() else 403


@pytest.fixture
def jobs(stage: Stage) -> list[str]:
    """Each with a claim, and a step of which nobody knows the outcome: whoever may do a thing can do it."""
    for job in MATRIX:
        queue, customer = job.split("-")
        stage.begin(job, f"Title of {job}", "Later", queue=queue, owner=f"customer-{customer}")
        stage.report(job, 0, "unknown")
    return list(MATRIX)


@pytest.mark.parametrize("name", PEOPLE)
def test_pages_of_a_job_by_the_matrix(stage: Stage, jobs: list[str], name: str) -> None:
    browser = stage.browser(name)
    seen = {
        (job, deed): browser.get(f"/jobs/{job}/" if deed == "view" else f"/jobs/{job}/{deed}/").status
        for job, deeds in MATRIX.items()
        for deed in deeds
    }
    assert seen == {(job, deed): expected(name, job, deed) for job, deed in seen}


@pytest.mark.parametrize("name", PEOPLE)
def test_a_job_page_links_to_just_what_its_reader_may_do(stage: Stage, jobs: list[str], name: str) -> None:
    browser = stage.browser(name)
    for job, deeds in MATRIX.items():
        page = browser.get(f"/jobs/{job}/")
        if page.status == 404:
            continue
        linked = set(page.node("next").links.values())
        for deed in deeds.keys() - {"view"}:
            may = expected(name, job, deed) == 200
            assert (f"/jobs/{job}/{deed}/" in linked) is may, (job, deed)


@pytest.mark.parametrize("deed", ["cancel", "pause", "revoke", "steps/0/outcome"])
def test_a_form_sent_without_the_right_leaves_nothing_but_a_count(
    stage: Stage, jobs: list[str], deed: str
) -> None:
    job, path = "ledger-2", f"/jobs/ledger-2/{deed}/"
    forged: dict[str, Any] = {
        "event_id": "forged-1",
        "cause": "user_requested",
        "grace_seconds": 9,
        **EVIDENCE,
    }
    before = Receipt.objects.count()
    for name in PEOPLE:
        if expected(name, job, deed) == 200:
            continue
        browser = stage.browser(name)
        for fragment in (False, True):
            assert browser.post(path, forged, fragment=fragment).status == expected(name, job, deed), name
    assert Receipt.objects.count() == before
    assert Refusal.objects.filter(user__name="sam", job_id=job).values_list("count", flat=True).get() == 2
    assert stage.browser("aud").get(f"/jobs/{job}/").status == 200, "the session is as it was"


def test_a_refused_form_gives_the_reason_in_the_place_of_its_fields(stage: Stage, jobs: list[str]) -> None:
    aud, sam = stage.browser("aud"), stage.browser("sam")
    denied = aud.get("/jobs/mail-1/cancel/")
    assert "Request cancel A rule forbids this to you here." in denied.text
    assert "cause" not in denied.fields
    refused = sam.post("/jobs/mail-1/cancel/", {"event_id": "x-1", "cause": "other"}, fragment=True)
    assert refused.status == 403
    assert "You have no right to do this here." in refused.text
    assert refused.root["id"] == "cancel", "htmx puts the form in the form's place"


def test_lists_hold_just_the_jobs_that_their_reader_may_see(stage: Stage, jobs: list[str]) -> None:
    for job in jobs:
        stage.cancel(job, "system")
    for name in PEOPLE:
        browser = stage.browser(name)
        may_see = {f"row-{job}" for job in jobs if name in MATRIX[job]["view"].split()}
        for path in ("/verify/", "/jobs/"):
            listed = {css_id for css_id in browser.get(path).root.ids if css_id.startswith("row-")}
            assert listed == may_see, (name, path)
        figures = browser.get("/verify/").node("fig-unverified").text
        assert figures == f"Unverified jobs {len(may_see)} cancel requested", name


def test_a_row_offers_to_record_only_to_those_who_may(stage: Stage, jobs: list[str]) -> None:
    for job in jobs:
        stage.cancel(job, "system")
    sam = stage.browser("sam").get("/verify/")
    assert "Record outcome E" in sam.node("row-mail-2").text
    assert "You may look, not record" in sam.node("row-ledger-2").text
    assert "/jobs/ledger-2/steps/0/outcome/" not in sam.html


@pytest.mark.parametrize("path", ["", "cancel/", "pause/", "revoke/", "close_dispute/", "steps/0/outcome/"])
def test_invisible_and_missing_answer_alike(stage: Stage, jobs: list[str], path: str) -> None:
    for name, hidden in (("olga", "mail-2"), ("ada", "mail-1")):
        browser = stage.browser(name)
        asked: dict[str, Any] = {"event_id": "e-x", "cause": "other"}
        for send in (browser.get, lambda url: browser.post(url, asked)):  # noqa: B023
            one, other = send(f"/jobs/{hidden}/{path}"), send(f"/jobs/{'x' * len(hidden)}/{path}")
            assert one.status == other.status
            assert one.status == 404 or (path, one.status) == ("", 405)  # a job's page takes no form
            assert one.lasting == other.lasting


def test_a_job_of_another_tenant_is_not_there(stage: Stage, lena: Browser) -> None:
    other = Tenant.objects.create(name="elsewhere")
    Queue.objects.create(tenant=other, name="mail")
    do(Actor.system(other), "theirs", Submit(job_id="theirs", spec=spec("A secret title")))
    assert lena.get("/jobs/theirs/").status == 404
    assert "secret" not in lena.get("/jobs/").html
    assert lena.get("/jobs/", fragment=True, jobs="theirs").text.count("secret") == 0


def test_what_is_no_job_and_no_step_is_404(stage: Stage, jobs: list[str], lena: Browser) -> None:
    for path in (
        "/jobs/-x/",
        "/jobs/%00/",
        f"/jobs/{'a' * 200}/",
        "/jobs/mail-1/steps/2/outcome/",
        "/jobs/mail-1/steps/99999999999999999999999/outcome/",
        "/jobs/mail-1/steps/-1/outcome/",
        "/jobs/mail-1/approve/",
        "/jobs/mail-1/delete/",
    ):
        assert lena.get(path).status == 404, path


ADDRESSES = (
    *("/", "/verify/", "/jobs/", "/tombstones/", "/help/words/", "/help/keys/", "/events/e-1/"),
    *("/jobs/mail-1/", "/jobs/mail-1/cancel/", "/jobs/mail-1/pause/", "/jobs/mail-1/steps/0/outcome/"),
)


def test_nobody_sees_anything_before_they_sign_in(stage: Stage, jobs: list[str]) -> None:
    nobody = Browser()
    for path in ADDRESSES[1:]:
        page = nobody.get(path)
        assert (page.status, page.goes_to) == (302, f"/login/?next={path.replace('/', '%2F')}")
        assert nobody.post(path, {"event_id": "e-1"}).status == 302
        part = nobody.get(path, fragment=True)
        assert (part.status, part.goes_to, part.html) == (401, page.goes_to, "")
    assert nobody.get("/").goes_to == "/verify/"


def test_somebody_who_was_switched_off_sees_nothing_any_more(stage: Stage, jobs: list[str]) -> None:
    sam = stage.browser("sam")
    assert sam.get("/jobs/mail-1/").status == 200
    stage.people["sam"].is_active = False
    stage.people["sam"].save()
    assert sam.get("/jobs/mail-1/").goes_to.startswith("/login/")


def test_a_right_that_is_taken_is_taken_at_once(stage: Stage, jobs: list[str]) -> None:
    olga = stage.browser("olga")
    assert olga.get("/jobs/mail-1/").status == 200
    Grant.objects.filter(user=stage.people["olga"], action="view").update(revoked_at=timezone.now())
    assert olga.get("/jobs/mail-1/").status == 404
    assert "row-mail-1" not in olga.get("/jobs/").html


def test_the_sponsor_of_the_worker_may_not_settle_what_it_ran(stage: Stage) -> None:
    stage.submit("order-1")
    stage.actors["w1"] = Actor.of_user(User.objects.get(name="w1"))
    stage("w1", "order-1", "claim", worker="worker-1")
    stage("w1", "order-1", "reserve", attempt="a1")
    stage("w1", "order-1", "report", ordinal=0, outcome="unknown")
    User.objects.filter(name="w1").update(sponsor=stage.people["lena"])
    page = stage.browser("lena").get("/jobs/order-1/steps/0/outcome/")
    assert page.status == 403
    assert "You, or an account you answer for, ran this job: somebody else must look at it." in page.text


def test_the_administrator_has_the_admin_and_no_job(stage: Stage, jobs: list[str]) -> None:
    ada = stage.browser("ada").get("/jobs/")
    assert "There are no jobs that you may see yet." in ada.text
    assert "/admin/" in ada.root.links.values()
    assert "/admin/" not in stage.browser("lena").get("/jobs/").root.links.values()
