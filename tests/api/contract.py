"""Holds an answer against the OpenAPI document: its code, media type and shape are declared for its call."""

import json
import re
from functools import cache
from typing import Any

import jsonschema_rs
from django.http import HttpResponse

from runs.api import api


def check(method: str, response: Any) -> HttpResponse:
    """`response` of Django's test client, unless it breaks the contract: AssertionError."""
    declared = _answers(method, response.resolver_match.route)
    media_type = response["Content-Type"].partition(";")[0]
    assert response.status_code < 500 or response.status_code == 503, response.content
    if declared is None:  # a path or a method that there is not
        assert (response.status_code, media_type) in {
            (404, "application/problem+json"),
            (405, "application/problem+json"),
        }
        schema = {"$ref": "#/components/schemas/Problem"}
    else:
        assert str(response.status_code) in declared, f"{response.status_code} is not declared for {method}"
        content = declared[str(response.status_code)]["content"]
        assert media_type in content, f"{media_type} is not declared for {response.status_code}"
        schema = content[media_type]["schema"]
    text = response.content.decode()
    told = text if media_type == "text/event-stream" else json.loads(text)
    _validator(json.dumps(schema)).validate(told)
    return response  # type: ignore[no-any-return]


def _answers(method: str, route: str) -> Any:
    path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route)
    operation = api.document()["paths"].get(path, {}).get(method.lower())
    return operation and operation["responses"]


@cache
def _validator(schema: str) -> Any:
    components = api.document()["components"]
    return jsonschema_rs.Draft202012Validator({**json.loads(schema), "components": components})
