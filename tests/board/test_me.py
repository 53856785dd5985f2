"""Preferences: kept as cookies, and used by the next page."""

import pytest

from .cast import Browser

PATH = "/me/"


def test_language_theme_and_letters(lena: Browser) -> None:
    assert lena.get("/verify/").root.links[""] == PATH
    sent = lena.post(PATH, {"language": "zh-hans", "theme": "dark"})
    assert (sent.status, sent.goes_to) == (302, PATH)
    page = lena.get(PATH)
    assert page.root.all("html")[0]["lang"] == "zh-Hans"
    assert page.root.all("html")[0]["data-theme"] == "dark"
    assert lena.client.cookies["letters"].value == "off"
    assert page.fields["language"] == "zh-hans"
    assert page.fields["theme"] == "dark"
    lena.post(PATH, {"language": "en", "theme": "", "letters": "on"})
    page = lena.get(PATH)
    assert page.root.all("html")[0]["lang"] == "en"
    assert not page.root.all("html")[0]["data-theme"]
    assert lena.client.cookies["letters"].value == ""


@pytest.mark.parametrize("fields", [{"language": "xx"}, {"language": "en", "theme": "pink"}, {}])
def test_what_is_no_choice_changes_nothing(lena: Browser, fields: dict[str, str]) -> None:
    assert lena.post(PATH, fields).status == 422
    assert "theme" not in lena.client.cookies


def test_who_is_not_signed_in(db: None) -> None:
    assert Browser().get(PATH).goes_to.startswith("/login/")
