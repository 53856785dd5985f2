"""Whatever anybody stored is text on every page, never markup; and no link leads out of the web."""

import re
from typing import Any

import pytest

from runs.models import Cause, Queue, Tool

from .cast import Browser, Stage, spec
from .pages import Page

PATH = "/jobs/order-1/"


def evil(what: str) -> str:
    """Fires wherever it is not escaped, in text or in an attribute."""
    return f"<i-{what} x='\"`>{{{{{what}}}}}&amp;"


@pytest.fixture
def job(stage: Stage) -> str:
    """A story in which everybody writes markup wherever they may write."""
    Tool.objects.create(
        tenant=stage.tenant, name=evil("tool"), label=evil("label"), where_to_look=evil("where")
    )
    Cause.objects.create(tenant=stage.tenant, code="evil", short=evil("short")[:80], text=evil("text"))
    step = {
        "label": evil("label"),
        "tool": evil("tool"),
        "target": evil("target"),
        "params": {evil("key"): evil("param")},
    }
    job = stage.begin("order-1", step, step, step, owner=evil("owner"))
    stage.report(job, 0, "ok", value=evil("value"))
    stage.reserve(job)
    stage.cancel(job, cause="evil", note=evil("note"), asked_by=evil("asked"))
    kept = {"kind": "not_found", "text": evil("text"), "link": "https://mail.test/?a=<i-link>&b='\"x"}
    stage("sam", job, "observe", ordinal=1, evidence=kept)
    stage("lena", job, "revoke", cause="evil", note=evil("note"))
    stage.report(job, 1, "ok", value=evil("value"))
    return job


PAGES = (
    *(
        "/verify/",
        "/jobs/",
        PATH,
        f"{PATH}cancel/",
        f"{PATH}steps/1/outcome/",
        f"{PATH}revoke/",
        "/tombstones/",
        "/insights/?range=<i-range>&queue=<i-queue>&table=<i-table>",
    ),
    *(
        "/jobs/?q=<i-q>\"'",
        "/verify/?customer=<i-customer>\"'",
        "/verify/?system=<i-system>\"'",
        "/events/e-1/",
    ),
    *("/jobs/?owner=<i-owner>\"'", "/login/?next=/<i-next>\"'"),
)


def elements(page: Page) -> set[str]:
    return {node.element.name or "" for node in page.root.every()}


@pytest.mark.parametrize("fragment", [False, True])
def test_it_is_text_everywhere(stage: Stage, lena: Browser, job: str, fragment: bool) -> None:
    stage("system", "stone", "cancel", spec=spec(evil("label"), owner=evil("owner")), cause="evil")
    for path in PAGES:
        asked: dict[str, Any] = (
            {"jobs": "order-1,stone"} if fragment and path in ("/verify/", "/jobs/", PATH) else {}
        )
        page = lena.get(path, fragment=fragment, **asked)
        assert page.status in (200, 302), path
        assert not {name for name in elements(page) if name.startswith("i-")}, path
        assert "<i-" not in page.html, path
        for node in page.root.every():
            assert not [name for name in node.attributes if name.startswith("on") or name == "style"], path


def test_it_is_all_there_to_be_read(lena: Browser, job: str) -> None:
    """Escaped once, and not lost: what was written is what is read."""
    page = lena.get(PATH)
    text = re.sub(r"\s+", "", page.text)
    for what in ("owner", "label", "target", "key", "param", "value", "note", "text", "asked"):
        assert re.sub(r"\s+", "", evil(what)) in text, what
    assert evil("short")[:80].split(">")[0] in page.text


@pytest.mark.parametrize("field", ["note", "asked_by", "cause", "event_id", "grace_seconds"])
def test_what_comes_back_in_a_form_is_text_too(stage: Stage, lena: Browser, field: str) -> None:
    stage.submit("order-2")
    filled = lena.fill("/jobs/order-2/cancel/") | {field: evil("back")}
    for fragment in (False, True):
        page = lena.post("/jobs/order-2/cancel/", filled, fragment=fragment)
        assert page.status == 422
        assert "<i-back" not in page.html
        if field in ("note", "asked_by"):
            assert page.fields[field] == evil("back")


def test_a_message_is_text(stage: Stage, lena: Browser) -> None:
    stage.people["lena"].name = "<i-lena>"
    stage.people["lena"].save()
    stage.submit("order-2")
    lena.send("/jobs/order-2/cancel/", cause="user_requested")
    page = lena.get("/jobs/order-2/")
    assert "by <i-lena>." in page.node("messages").text
    assert "<i-lena>" not in page.html


def hrefs(page: Page) -> list[str]:
    return [node["href"] for node in page.root.every() if node["href"]]


@pytest.mark.parametrize(
    "template",
    [
        "javascript:alert('{target}')",
        " javascript:alert(1)",
        "data:text/html,{key}",
        "//evil.test",
        "{target}",
    ],
)
def test_a_template_that_leads_out_of_the_web_is_no_link(stage: Stage, lena: Browser, template: str) -> None:
    Tool.objects.create(tenant=stage.tenant, name="smtp/2", link_template=template)
    stage.unknown("order-2", {"label": "A", "tool": "smtp/2", "target": "javascript:alert(1)"})
    page = lena.get("/jobs/order-2/steps/0/outcome/")
    assert "Look in smtp/2" not in page.root.links
    assert all(href.startswith(("/", "#")) for href in hrefs(page)), hrefs(page)


def test_what_fills_a_template_stays_in_its_place(stage: Stage, lena: Browser) -> None:
    Tool.objects.create(tenant=stage.tenant, name="t", link_template="https://mail.test/{target}?id={job_id}")
    stage.unknown("order-2", {"label": "A", "tool": "t", "target": "../x?admin=1#{job_id}&@evil.test"})
    link = lena.get("/jobs/order-2/steps/0/outcome/").root.links["Look in t"]
    assert link == "https://mail.test/..%2Fx%3Fadmin%3D1%23%7Bjob_id%7D%26%40evil.test?id=order-2"


def test_links_of_evidence_lead_to_web_pages(lena: Browser, job: str) -> None:
    outward = [href for href in hrefs(lena.get(PATH)) if not href.startswith(("/", "#"))]
    assert outward == ["https://mail.test/?a=<i-link>&b='\"x"]


def test_a_script_cannot_be_hidden_in_the_admins_queue(stage: Stage, lena: Browser) -> None:
    Queue.objects.create(tenant=stage.tenant, name="<i-queue>")
    assert "<i-queue>" not in lena.get("/verify/").html
    assert "<i-queue>" in lena.get("/jobs/").text
