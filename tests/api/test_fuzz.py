"""Calls made up from our own OpenAPI document, good ones and bad ones: none ends in a 5xx, and each is
answered as declared."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode, openapi
from schemathesis.checks import CHECKS, load_all_checks

from runs.api import api
from runs.models import User

from .cast import Caller, token_for

load_all_checks()
NAMES = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
)
CHECKED = [CHECKS.get_one(name) for name in NAMES]
EXAMPLES = 12


@pytest.fixture
def token(cast: dict[str, User], app: Caller) -> str:
    """Of an account that may do everything, beside jobs that a made-up call can meet: `out`, `done`."""
    for job_id in ("out", "done"):
        app.submit(job_id, "Send it")
        claim = app.claim(job_id)
        app.post(f"/jobs/{job_id}/reserve", {"claim": claim})
    app.ask("done", "report", claim=claim, ordinal=0, outcome="ok")
    return token_for(cast["app"])


CALLS = [(path, method.upper()) for path, methods in api.document()["paths"].items() for method in methods]
MODES = {"good": GenerationMode.POSITIVE, "bad": GenerationMode.NEGATIVE}


@pytest.fixture
def one_connection(token: str) -> Iterator[None]:
    """A request leaves the test's transaction open; Django's own test client sees to that for itself only."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@cache
def document() -> Any:
    return openapi.from_wsgi("/api/v1/openapi.json", get_wsgi_application())


@pytest.mark.usefixtures("one_connection")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("path", "method"), CALLS)
def test_made_up_calls_are_answered_as_declared(token: str, path: str, method: str, mode: str) -> None:
    operation = document()[path][method]
    places = st.sampled_from([{"job_id": "out"}, {"job_id": "done"}, None] if "{job_id}" in path else [None])
    made_up = places.flatmap(
        lambda place: operation.as_strategy(generation_mode=MODES[mode], path_parameters=place)
    )

    @given(case=made_up)
    @settings(max_examples=EXAMPLES, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    def call(case: Any) -> None:
        case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=CHECKED)

    call()
