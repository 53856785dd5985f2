"""docs/examples/customer-page: its backend, as a process, against the real server."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from runs.models import Receipt
from tests.board.cast import CONFIRMED, Stage
from tests.support.server import ROOT, Served

from .conftest import PATIENCE

EXAMPLE = ROOT / "docs" / "examples" / "customer-page"


@pytest.fixture
def backend(served: Served, token: str) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLE / "backend.py"), "0"],
        env={"BOARD": served.url, "TOKEN": token, "PATH": ""},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    said = process.stdout.readline()
    yield said.split()[-1]
    process.terminate()
    process.communicate(timeout=10)


@contextmanager
def page(backend: str, job: str, after: int = 0, customer: str = "customer-1") -> Iterator[Any]:
    """The lines that a page gets, signs of life left out."""
    headers = {"X-Demo-Customer": customer}
    url = f"{backend}/truth/{job}?after={after}"
    with httpx.stream("GET", url, headers=headers, timeout=PATIENCE) as answer:
        assert answer.status_code == 200
        lines = (json.loads(line) for line in answer.iter_lines())
        yield (line for line in lines if line)


def test_it_tells_what_is_known_as_it_becomes_known(stage: Stage, backend: str) -> None:
    stage.begin("order-1", "Send bill", "Send parcel")
    with page(backend, "order-1") as told:
        assert next(told)["text"] == "Working: 0 of 2 parts have gone out."
        stage.cancel("order-1")
        assert "may still go out" in next(told)["text"]
        stage.report("order-1", 0, "unknown")
        line = next(told)
        assert "may or may not have gone out" in line["text"]
        assert not line["final"]
        stage("lena", "order-1", "reconcile", ordinal=0, outcome="ok", evidence=CONFIRMED)
        while not line["final"]:
            line = next(told)
        assert line["text"] == "Stopped. 1 of 2 parts had gone out before; nothing more will."


def test_while_reports_differ_it_says_nothing_that_may_be_wrong(stage: Stage, backend: str) -> None:
    stage.unknown("order-1", "Send bill")
    evidence = {"kind": "receiver_refused", "text": "550"}
    stage("lena", "order-1", "reconcile", ordinal=0, outcome="ok", evidence=CONFIRMED)
    stage("system", "order-1", "reconcile", ordinal=0, outcome="rejected", evidence=evidence)
    with page(backend, "order-1") as told:
        line = next(told)
    assert (line["text"], line["final"]) == ("We are checking one part again.", False)


def test_a_page_that_comes_back_is_told_only_what_is_new(stage: Stage, backend: str) -> None:
    stage.begin("order-1", "Send bill")
    with page(backend, "order-1") as told:
        seen = next(told)["seq"]
    stage.cancel("order-1")
    with page(backend, "order-1", after=seen) as told:
        assert "You asked us to cancel" in next(told)["text"]


def test_a_page_that_is_closed_cancels_nothing(stage: Stage, backend: str) -> None:
    stage.begin("order-1", "Send bill")
    with page(backend, "order-1") as told:
        next(told)
    stage.report("order-1", 0, "ok")
    row = stage.row("order-1")
    assert (row.control, row.result) == ("run", "succeeded")
    assert not Receipt.objects.filter(kind="cancel").exists()


def test_another_customers_job_is_not_there_and_no_token_leaves(
    stage: Stage, backend: str, token: str
) -> None:
    stage.begin("order-1", "Send bill")
    for job, customer in (("order-1", "customer-2"), ("none", "customer-1"), ("..%2fwhoami", "customer-1")):
        answer = httpx.get(f"{backend}/truth/{job}", headers={"X-Demo-Customer": customer})
        assert (answer.status_code, answer.text) == (404, "Nothing here.")
    for path in ("/", "/page.js", "/page.css"):
        answer = httpx.get(backend + path)
        assert answer.status_code == 200
        assert token not in answer.text
