"""The contract as a document: it names every call and every answer, and its page shows it without scripts."""

import re
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser

from runs.api import api
from runs.api.docs import codes
from runs.protocol.tables import TABLES
from tests.support.server import Served

from .cast import Caller

COMMANDS = {
    *("cancel", "claim", "heartbeat", "reserve", "dispatch", "report", "release", "checkpoint", "revoke"),
    *("pause", "resume", "observe", "reconcile", "approve", "decline", "close_dispute"),
}
PATHS = {
    "POST /jobs",
    "POST /seal",
    *("POST /operations", "GET /operations", "GET /operations/{operation_id}"),
    "POST /operations/{operation_id}/abort",
    *(f"POST /jobs/{{job_id}}/{name}" for name in COMMANDS),
    "GET /jobs",
    "GET /jobs/{job_id}",
    "GET /jobs/{job_id}/events",
    "GET /jobs/{job_id}/receipts",
    "GET /jobs/{job_id}/preview",
    "GET /jobs/{job_id}/certificate",
    "GET /receipts/{event_id}",
    *("GET /causes", "GET /queues", "GET /whoami", "GET /can"),
}
IN_EVERY_COMMAND = {"401", "403", "404", "413", "415", "422", "429", "503"}
IN_EVERY_READ = {"200", "401", "403", "404", "410", "422", "429", "503"}


def operations() -> dict[str, Any]:
    return {
        f"{method.upper()} {path.removeprefix('/api/v1')}": operation
        for path, methods in api.document()["paths"].items()
        for method, operation in methods.items()
    }


def test_it_names_every_call_of_the_contract() -> None:
    assert set(operations()) == PATHS
    assert api.document()["openapi"] == "3.1.0"


def statuses(operation: Any, code: str) -> set[str]:
    schemas = api.document()["components"]["schemas"]
    answer = operation["responses"][code]["content"].get("application/json")
    if answer is None:
        return set()
    word = schemas[answer["schema"]["$ref"].rpartition("/")[2]]["properties"]["status"]
    return set(word.get("enum", [word.get("const")]))


@pytest.mark.parametrize("name", sorted(COMMANDS | {"submit", "seal"}))
def test_every_status_of_a_table_is_declared_under_its_code(name: str) -> None:
    operation = next(each for each in operations().values() if each["operationId"] == name)
    declared = {(int(code), word) for code in operation["responses"] for word in statuses(operation, code)}
    has_event_id = "event_id" in api.document()["components"]["schemas"][_title(name)]["properties"]
    expected = {(row.code, row.status) for row in TABLES[name] if row.code != 404}
    assert declared == expected | ({(409, "event_conflict")} if has_event_id else set())
    assert set(operation["responses"]) >= IN_EVERY_COMMAND


def _title(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def test_every_refusal_is_declared_as_a_problem() -> None:
    for call, operation in operations().items():
        if call.startswith("GET"):
            assert set(operation["responses"]) == IN_EVERY_READ
        for code in IN_EVERY_COMMAND & set(operation["responses"]):
            assert "application/problem+json" in operation["responses"][code]["content"], (call, code)
        assert operation["security"] == [{"Bearer": []}, {"Session": []}]


def test_every_command_but_the_checkpoint_needs_a_body() -> None:
    bodies = {
        op["operationId"]: op["requestBody"]["required"]
        for op in operations().values()
        if "requestBody" in op
    }
    assert [name for name, required in bodies.items() if not required] == ["checkpoint"]


def test_a_receipt_is_closed_and_all_else_is_open() -> None:
    schemas = api.document()["components"]["schemas"]
    assert schemas["Receipt"]["additionalProperties"] is False
    assert schemas["Job"]["additionalProperties"] is True
    assert schemas["Submit"]["additionalProperties"] is False


def test_it_is_served_to_everybody(nobody: Caller) -> None:
    response = nobody.client.get("/api/v1/openapi.json")
    assert response.json() == api.document()
    assert response["Content-Type"] == "application/json"


def test_the_page_shows_every_call_and_every_code(db: None) -> None:
    page = Client().get("/api/v1/docs")
    assert page.status_code == 200
    shown = page.content.decode()
    for call, operation in operations().items():
        assert f'id="{operation["operationId"]}"' in shown, call
    for _http, code, _meaning in codes():
        assert f'<tr id="{code}">' in shown
    links = set(re.findall(r'href="#([^"]+)"', shown))
    assert links <= set(re.findall(r'id="([^"]+)"', shown)), "a link that leads nowhere"


def test_the_page_loads_nothing_from_elsewhere_and_runs_nothing(db: None) -> None:
    shown = Client().get("/api/v1/docs").content.decode()
    assert not re.search(r"<script|\son\w+=|style=|<style", shown)
    loaded = re.findall(r'<(?:link|img|script)[^>]*(?:href|src)="([^"]+)"', shown)
    assert loaded
    assert all(address.startswith("/static/") for address in loaded)


@pytest.mark.browser
def test_the_page_in_a_browser(served: Served, browser: Browser) -> None:
    page = browser.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{served.url}/api/v1/docs")
    assert page.get_by_role("heading", name="cancelboard API").is_visible()
    page.get_by_role("navigation").get_by_role("link", name="reconcile").click()
    assert page.get_by_role("heading", name="Record an outcome with its evidence, or propose it").is_visible()
    assert page.evaluate("getComputedStyle(document.body).display") == "grid"  # its style sheet was let in
    assert said == []
    assert all(address.startswith(served.url) for address in asked)
    page.close()
