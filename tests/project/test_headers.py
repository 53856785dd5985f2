"""Every page, in either colour of the handler, says what a browser may load; so do the static files."""

import asyncio

import httpx
import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import HttpRequest, HttpResponse
from django.test import Client

from cancelboard.headers import POLICY, strict_headers
from tests.support.server import Served


def test_the_policy_allows_nothing_inline_and_nothing_foreign() -> None:
    assert POLICY.startswith("default-src 'self'; ")
    assert "frame-ancestors 'none'" in POLICY
    assert "unsafe" not in POLICY
    assert "http" not in POLICY
    assert "data:" not in POLICY


@pytest.mark.django_db
def test_a_page_carries_the_headers(client: Client) -> None:
    page = client.get("/login/")
    assert page.status_code == 200
    assert page.headers["Content-Security-Policy"] == POLICY
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert page.headers["Referrer-Policy"] == "same-origin"
    assert page.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert page.headers["X-Frame-Options"] == "DENY"


@pytest.mark.django_db
def test_an_answer_from_the_middleware_carries_them_too(client: Client) -> None:
    refused = client.get("/admin/login/", headers={"host": "evil.test"})
    assert refused.status_code == 400
    assert refused.headers["Content-Security-Policy"] == POLICY


def test_the_middleware_comes_in_both_colours() -> None:
    def sync_page(request: HttpRequest) -> HttpResponse:
        return HttpResponse()

    async def async_page(request: HttpRequest) -> HttpResponse:
        return HttpResponse()

    assert strict_headers(sync_page)(HttpRequest()).headers["Content-Security-Policy"] == POLICY
    answer = asyncio.run(strict_headers(async_page)(HttpRequest()))
    assert answer.headers["Content-Security-Policy"] == POLICY


def test_the_server_serves_pages_and_hashed_static_files(served: Served) -> None:
    with httpx.Client(base_url=served.url) as browser:
        page = browser.get("/login/")
        assert page.status_code == 200
        assert page.headers["Content-Security-Policy"] == POLICY
        url = staticfiles_storage.url("css/base.css")
        assert url in page.text
        file = browser.get(url)
    assert file.status_code == 200
    assert "immutable" in file.headers["Cache-Control"]
    assert file.headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in file.headers
    assert file.headers["Content-Encoding"] == "gzip"
