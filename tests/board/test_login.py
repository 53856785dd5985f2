"""Signing in and out: the only pages without a person, and what guards them."""

import pytest
from django.test import Client

from runs.demo.people import cast

from .cast import Browser, Stage

PASSWORD = "a password of sam's own"
WRONG = "Please enter a correct username and password."


@pytest.fixture
def nobody(stage: Stage) -> Browser:
    cast(PASSWORD)
    return Browser()


def sign_in(browser: Browser, name: str = "sam", password: str = PASSWORD, **more: str) -> str:
    page = browser.post("/login/", {"username": name, "password": password, **more})
    return page.goes_to or page.text


def test_signing_in_leads_on_to_where_one_wanted_to_go(nobody: Browser) -> None:
    page = nobody.get("/login/", next="/jobs/?q=order")
    assert page.status == 200
    assert sign_in(nobody, next="/jobs/?q=order") == "/jobs/?q=order"
    assert nobody.get("/verify/").status == 200


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.test/",
        "//evil.test/",
        "/\\evil.test/",
        "javascript:alert(1)",
        "http:evil.test",
        "\x01//e",
    ],
)
def test_it_never_leads_to_somebody_elses_page(nobody: Browser, elsewhere: str) -> None:
    assert sign_in(nobody, next=elsewhere) == "/"


def test_a_wrong_password_says_so_and_keeps_the_name(nobody: Browser) -> None:
    page = nobody.post("/login/", {"username": "sam", "password": "wrong", "next": "/jobs/"})
    assert page.status == 200
    assert WRONG in page.text
    assert 'value="sam"' in page.html
    assert 'value="/jobs/"' in page.html, "the place to go to is kept"
    assert "wrong" not in page.html.replace("wrong.", "")


def test_after_five_wrong_passwords_the_right_one_has_to_wait(nobody: Browser) -> None:
    for _ in range(4):
        assert WRONG in sign_in(nobody, password="wrong")
    locked = nobody.post("/login/", {"username": "sam", "password": "wrong"})
    assert locked.status == 429
    for page in (locked, nobody.post("/login/", {"username": "sam", "password": PASSWORD})):
        assert page.status == 429
        assert "Too many wrong passwords" in page.text
        assert "15 minutes" in page.text
        assert page.has("main"), "a page of ours, not a bare line"
    assert sign_in(Browser(), "lena") == "/", "somebody else is not locked out"


def test_a_service_account_does_not_sign_in(nobody: Browser) -> None:
    for name in ("w1", "acme/w1"):
        for password in (PASSWORD, ""):
            assert sign_in(nobody, name, password) != "/"
    assert nobody.get("/verify/").status == 302


def test_logging_out_ends_the_session_and_says_so(sam: Browser) -> None:
    assert sam.get("/logout/").status == 405, "a link must not log anybody out"
    assert sam.get("/verify/").status == 200
    page = sam.post("/logout/", {})
    assert page.status == 200
    assert "You are logged out" in page.text
    assert page.root.all("div", "card")[0].attributes.keys() >= {"data-forget-now"}, "drafts are dropped"
    assert sam.get("/verify/").goes_to.startswith("/login/")


@pytest.mark.parametrize(
    "path", ["/login/", "/logout/", "/jobs/order-1/cancel/", "/jobs/order-1/steps/0/outcome/"]
)
def test_a_form_from_elsewhere_is_refused(stage: Stage, path: str) -> None:
    stage.unknown("order-1")
    browser = Browser(stage.people["lena"], Client(enforce_csrf_checks=True))
    page = browser.post(path, {"event_id": "forged", "username": "lena"})
    assert page.status == 403
    assert "This form is too old, or came from elsewhere" in page.text
    assert "Nothing was changed." in page.text
    assert browser.get("/verify/").status == 200


def test_who_is_signed_in_stands_on_every_page(stage: Stage) -> None:
    page = stage.browser("sam").get("/jobs/")
    assert "sam acme" in page.text
    assert page.node("find")["name"] == "q"
