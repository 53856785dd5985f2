"""What every answer of the board keeps to: whole page or part, no cache, no writing on reading, and errors
that are pages."""

import re
from collections.abc import Callable

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test.html import parse_html
from django.test.utils import CaptureQueriesContext

from runs.errors import Busy, TooMany

from .cast import Browser, Stage
from .pages import Node

ICONS = settings.BASE_DIR / "static" / "icons.svg"

#: A page, the id of its part for htmx ("": it has none of its own).
PAGES = {
    "/verify/": "results",
    "/jobs/": "results",
    "/tombstones/": "results",
    "/jobs/order-1/": "verdict",
    "/jobs/order-1/cancel/": "cancel",
    "/jobs/order-1/pause/": "deed",
    "/jobs/order-1/steps/0/outcome/": "outcome",
    "/help/keys/": "keys-title",
    "/help/words/": "",
    "/events/e-1/": "",
}


@pytest.fixture(autouse=True)
def job(stage: Stage) -> str:
    return stage.unknown("order-1")


@pytest.mark.parametrize("path", PAGES)
def test_a_whole_page_or_its_part(lena: Browser, path: str) -> None:
    whole = lena.get(path)
    restored = lena.client.get(path, headers={"HX-Request": "true", "HX-History-Restore-Request": "true"})
    assert whole.html.startswith("<!doctype html>")
    assert restored.content.decode().startswith("<!doctype html>"), "back is always a true page"
    if PAGES[path]:
        part = lena.get(path, fragment=True)
        assert "<!doctype" not in part.html
        assert part.has(PAGES[path])
        assert len(part.html) < len(whole.html)
        assert whole.has(PAGES[path]) or path == "/help/keys/"


@pytest.mark.parametrize("fragment", [False, True])
@pytest.mark.parametrize("path", [*PAGES, "/jobs/nothing/"])
def test_no_cache_keeps_it_and_none_mixes_page_and_part(lena: Browser, path: str, fragment: bool) -> None:
    for browser in (lena, Browser()):
        page = browser.get(path, fragment=fragment)
        vary = {name.strip() for name in page.headers["Vary"].split(",")}
        assert vary >= {"HX-Request", "HX-History-Restore-Request", "Cookie"}
        assert page.headers["Cache-Control"] == "no-store"
        assert "default-src 'self'" in page.headers["Content-Security-Policy"]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_what_every_page_has(lena: Browser, path: str) -> None:
    page = lena.get(path)
    assert page.node("main").element.name == "main"
    assert len(page.root.all("h1")) == 1
    assert len(page.root.ids) == len(set(page.root.ids)), "an id is one element's"
    assert page.root.all("title")[0].text.endswith("· cancelboard")
    assert page.root.all("a")[0]["href"] == "#main", "the first link skips to the content"
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|javascript:", page.html)


@pytest.mark.parametrize("path", [*PAGES, "/verify/?queue=mail", "/jobs/?q=order"])
def test_reading_writes_nothing(lena: Browser, path: str) -> None:
    lena.get("/verify/")
    for fragment in (False, True):
        with CaptureQueriesContext(
            connection,
        ) as seen:
            lena.get(path, fragment=fragment)
            lena.get(f"{path}{'&' if '?' in path else '?'}jobs=order-1&shown=", fragment=True)
        written = [
            q["sql"] for q in seen.captured_queries if re.match(r"\s*(INSERT|UPDATE|DELETE)", q["sql"])
        ]
        assert written == []


@pytest.mark.parametrize("path", ["/verify/", "/jobs/", "/tombstones/", "/jobs/order-1/", "/help/words/"])
def test_what_is_only_read_takes_no_form(lena: Browser, path: str) -> None:
    assert lena.post(path, {}).status == 405
    assert lena.client.delete(path).status_code == 405
    assert lena.client.head(path).status_code == 200


def test_a_form_takes_no_other_method(lena: Browser) -> None:
    for path in ("/jobs/order-1/cancel/", "/jobs/order-1/pause/", "/jobs/order-1/steps/0/outcome/"):
        assert lena.client.put(path).status_code == 405


def raising(error: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


def test_a_database_that_is_away_is_a_page_that_says_so(
    lena: Browser, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("runs.board.verify.figures", raising(OperationalError("gone")))
    page = lena.get("/verify/")
    assert (page.status, page.headers["Retry-After"]) == (503, "1")
    assert "The database can't be reached, or is busy" in page.text
    assert "the database failed a page" in caplog.text
    assert lena.get("/verify/", fragment=True).status == 503


def test_its_page_asks_the_database_nothing(
    lena: Browser, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Callable[[int], object]
) -> None:
    monkeypatch.setattr("runs.board.jobs.listed", raising(Busy()))
    lena.client.get("/jobs/")
    with CaptureQueriesContext(connection) as seen:
        assert lena.get("/jobs/").status == 503
    tables = [re.findall(r'FROM "(\w+)"', q["sql"]) for q in seen.captured_queries]
    assert ["runs_job"] not in tables, "not even the rail's count"


def test_a_command_that_finds_the_database_busy_keeps_the_text(
    stage: Stage, omar: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.submit("order-2")
    filled = omar.fill("/jobs/order-2/pause/", cause="other", note="A moment.")
    monkeypatch.setattr("runs.board.forms.do", raising(Busy()))
    page = omar.post("/jobs/order-2/pause/", filled)
    assert "The database is busy. Nothing was changed; send it again in a moment." in page.text
    assert page.fields["note"] == "A moment."
    assert page.fields["event_id"] == filled["event_id"], "sent again, it is the same event"


def test_too_many_is_said(lena: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.board.jobs.listed", raising(TooMany("Too many for now.", 30)))
    page = lena.get("/jobs/")
    assert (page.status, page.headers["Retry-After"]) == (429, "30")
    assert "Too many for now." in page.text


def test_a_sealed_id_is_gone(stage: Stage, lena: Browser) -> None:
    stage("system", None, "seal", generation=7)  # type: ignore[arg-type]
    assert lena.get("/jobs/order-9@7/").status == 410
    assert stage.browser("ada").get("/jobs/order-9@7/").status == 404


def test_the_theme_and_zone_are_the_readers_or_none(lena: Browser) -> None:
    for theme, attribute in (
        ("dark", ' data-theme="dark"'),
        ("light", ' data-theme="light"'),
        ('x" y="', ""),
    ):
        lena.client.cookies["theme"] = theme
        html = lena.get("/jobs/").html
        assert (attribute in html) if attribute else ("data-theme" not in html[:200])
    lena.client.cookies["zone"] = "Europe/Berlin"
    assert 'data-zone="Europe/Berlin"' in lena.get("/jobs/").html
    assert settings.TIME_ZONE == "UTC"


def test_every_icon_is_in_the_file_of_icons(lena: Browser) -> None:
    drawn = {symbol["id"] for symbol in Node(parse_html(ICONS.read_text())).every() if symbol["id"]}
    for path in PAGES:
        used = {use["href"].rpartition("#")[2] for use in lena.get(path).root.all("use")}
        assert used
        assert used <= drawn, path
