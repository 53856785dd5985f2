"""What only a real server shows: bodies without a length, paths as bytes, many callers at once."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest

from runs.models import Job
from tests.support.server import Served

from .cast import BASE, people, spec, tenant, token_for


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {token_for(people(tenant())['app'])}"}
    with httpx.Client(base_url=served.url + BASE, headers=headers, timeout=60) as client:
        yield client


def chunks(size: int) -> Iterator[bytes]:
    """A right submit of exactly `size` bytes, in pieces: sent chunked, without a Content-Length."""
    body = json.dumps({"job_id": "chunked", "spec": spec()}).encode()
    whole = b" " * (size - len(body)) + body
    for start in range(0, size, 65_536):
        yield whole[start : start + 65_536]


def test_a_body_without_a_length_has_the_same_bound(client: httpx.Client) -> None:
    headers = {"Content-Type": "application/json"}
    refused = client.post("/jobs", content=chunks(2**20 + 1), headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
    assert client.post("/jobs", content=chunks(2**20), headers=headers).status_code == 201
    assert client.post("/jobs", content=b"x" * (2**22), headers=headers).status_code == 413


def test_paths_that_are_no_text(client: httpx.Client, served: Served) -> None:
    server = urlsplit(served.url)
    missing = client.get("/jobs/missing").content
    for path in (b"%ff", b"%00", b"%0d%0a", b"%ed%a0%80", b"%25", b"..%2f..", b"%c3%a9"):
        url = httpx.URL(scheme="http", host="127.0.0.1", port=server.port, raw_path=b"/api/v1/jobs/" + path)
        answer = client.get(url)
        assert (answer.status_code, answer.content) == (404, missing), path


def test_a_cancel_that_is_sent_many_times_at_once_is_one(client: httpx.Client) -> None:
    client.post("/jobs", json={"job_id": "j", "spec": spec()})
    cancel = {"event_id": "stop", "spec": spec()}
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _n: client.post("/jobs/j/cancel", json=cancel).json(), range(12)))
    assert {answer["status"] for answer in answers} == {"requested"}
    assert sorted(answer["replayed"] for answer in answers) == [False] + [True] * 11
    assert len({answer["receipt"]["digest"] for answer in answers}) == 1
    assert Job.objects.get().seq == 3  # admitted, requested, acknowledged
