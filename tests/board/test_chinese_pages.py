"""The pages as a reader of Chinese meets them: no English is left on them, and dates are Chinese ones. The
jobs here are told in Chinese, so that what is English was said by the board."""

import re

import pytest

from runs.models import Proposal

from .cast import CONFIRMED, REFUSED, Browser, Stage
from .pages import Page

STEPS = ("发送邮件", "发送账单")
#: What is the same in any language: names, keys of a keyboard, formats, ids, codes.
ALIKE = re.compile(
    r"\b([a-z]+(?:_[a-z]+)+|cancelboard|acme|mail|books|shop|ledger"
    r"|lena|sam|omar|aud|ada|worker-1|customer-1|system|SYSTEM|smtp|LE|SA|OM|AU"
    r"|UTC|JSON|CSV|EN|English|Django|Enter|Ctrl|Alt|Shift|Esc|[A-Z]|kbd|zh|CANCELBOARD_LOOKUP_HOSTS"
    r"|order-\d|cb-[0-9a-f]+|[0-9a-f]{64}|p-[0-9a-f]+|e-\d+|a-z|manage\.py drill)\b"
)
ENGLISH = re.compile(r"[A-Za-z]{2,}")
READ = ("aria-label", "title", "placeholder")


def english(page: Page) -> set[str]:
    """What is left of it, with the words that are not drawn but read out. What says that it is English is
    meant so."""
    said = [page.root.text]
    for node in page.root.every():
        said += [node[name] for name in READ]
    for node in page.root.every():
        if node["lang"] == "en":
            said = [text.replace(node.text, "") for text in said]
    return {word for text in said for word in ENGLISH.findall(ALIKE.sub("", text))}


def told(stage: Stage) -> None:
    """A job for every page: unknown, disputed, stopped, running, waiting for a second person, a tombstone."""
    stage.unknown("order-1", *STEPS, owner="customer-1")
    stage.begin("order-2", *STEPS)
    stage.report("order-2", 0, "ok", value="250")
    no = REFUSED.model_copy(update={"text": "拒绝"})
    stage("lena", "order-2", "reconcile", ordinal=0, outcome="rejected", evidence=no)
    stage.begin("order-3", *STEPS)
    stage.report("order-3", 0, "ok", value="250")
    stage.cancel("order-3", "system", note="备注")
    stage.begin("order-4", *STEPS)
    stage.unknown("order-5", *STEPS, queue="books")
    seen = CONFIRMED.model_copy(update={"text": "在对方日志中"})
    stage("lena", "order-5", "reconcile", ordinal=0, outcome="ok", evidence=seen)
    stage.specs["order-6"] = stage.specs["order-1"]
    stage("system", "order-6", "cancel", spec=stage.specs["order-6"], cause="user_requested")


@pytest.mark.parametrize("who", ["lena", "sam"])
def test_no_english_is_left_on_a_chinese_page(stage: Stage, who: str) -> None:
    told(stage)
    reader = chinese(stage.browser(who))
    entry = Proposal.objects.get().proposal_id
    left = {}
    for path in (
        "/verify/",
        "/approvals/?show=open",
        f"/approvals/{entry}/",
        f"/approvals/{entry}/decline/",
        "/jobs/",
        *(f"/jobs/order-{n}/" for n in range(1, 7)),
        "/jobs/order-1/steps/0/outcome/",
        "/jobs/order-4/cancel/",
        "/jobs/order-4/pause/",
        "/jobs/order-4/revoke/",
        "/jobs/order-2/close_dispute/",
        "/tombstones/",
        "/tombstones/new/",
        "/disputed/",
        "/late/",
        "/operations/",
        "/operations/new/?queue=mail",
        "/workers/",
        "/insights/",
        "/me/",
        "/can/?action=approve&job_id=order-5",
        "/help/keys/",
        "/jobs/nothing/",
        "/nothing/",
    ):
        page = reader.get(path)
        assert page.status in (200, 302, 403, 404), path
        if words := english(page):
            left[path] = words
    assert not left


def test_a_refused_form_speaks_chinese(stage: Stage) -> None:
    told(stage)
    sam = chinese(stage.browser("sam"))
    page = sam.send("/jobs/order-1/steps/0/outcome/", outcome="ok")
    assert page.status == 422
    assert not english(page)


def test_dates_are_set_as_each_language_sets_them(stage: Stage) -> None:
    told(stage)
    lena = stage.browser("lena")
    assert re.search(r"\b\d\d? [A-Z][a-z]{2} 20\d\d, \d\d:\d\d\b", lena.get("/jobs/order-1/").text)
    assert re.search(r"20\d\d年\d\d?月\d\d?日 \d\d:\d\d\b", chinese(lena).get("/jobs/order-1/").text)


def chinese(reader: Browser) -> Browser:
    reader.client.cookies["django_language"] = "zh-hans"
    return reader
