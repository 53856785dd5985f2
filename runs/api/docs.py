"""The contract for readers, open to all: the OpenAPI document, and the same as a page without scripts."""

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import getdoc
from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja import NinjaAPI

from runs.errors import CancelboardError
from runs.permissions.refusals import SENTENCES

from .answers import sent
from .problems import MEDIA_TYPE


@dataclass(frozen=True)
class Field:
    """One line of a table: a parameter, or a key of a body or answer."""

    name: str
    where: str
    type: str
    required: bool
    about: str


def add_to(api: NinjaAPI) -> None:
    def openapi(request: HttpRequest) -> HttpResponse:
        return sent(api.document())  # type: ignore[attr-defined]

    def docs(request: HttpRequest) -> HttpResponse:
        return render(request, "runs/api/docs.html", page(api.document()))  # type: ignore[attr-defined]

    api.get("/openapi.json", auth=None, include_in_schema=False)(openapi)
    api.get("/docs", auth=None, include_in_schema=False)(docs)


def page(document: dict[str, Any]) -> dict[str, Any]:
    """What the template shows of an OpenAPI document."""
    schemas = document["components"]["schemas"]
    calls = [
        {"path": path, "method": method.upper(), **_call(operation, schemas)}
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    by_tag = sorted(calls, key=_tag)
    chapters = [(tag, list(calls)) for tag, calls in groupby(by_tag, key=_tag)]
    shapes = [
        (name, list(_fields(schema)), schema.get("description", ""))
        for name, schema in sorted(schemas.items())
    ]
    return {"document": document, "chapters": chapters, "shapes": shapes, "codes": sorted(codes())}


def codes() -> Iterator[tuple[int, str, str]]:
    """Every `code` of a problem: its HTTP code, itself, and what it means."""
    errors: list[type[CancelboardError]] = CancelboardError.__subclasses__()
    for error in errors:
        if error.code != CancelboardError.code:
            yield error.http, error.code, getdoc(error) or error.title
    yield 403, "csrf", "A session needs its CSRF token in the header X-CSRFToken."
    for code, sentence in SENTENCES.items():
        yield (401 if code in ("principal_inactive", "token_dead") else 403), code, sentence


def _tag(call: dict[str, Any]) -> str:
    return str(call["tag"])


def _call(operation: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    body = operation.get("requestBody")
    asked = [
        Field(each["name"], each["in"], _type(each["schema"]), each["required"], each.get("description", ""))
        for each in operation["parameters"]
    ]
    return {
        "id": operation["operationId"],
        "summary": operation["summary"],
        "tag": operation["tags"][0],
        "parameters": asked,
        "body": _type(body["content"]["application/json"]["schema"]) if body else "",
        "answers": [
            (
                code,
                _type(content["schema"]),
                _words(schemas[_type(content["schema"])]),
                media_type == MEDIA_TYPE,
            )
            for code, answer in operation["responses"].items()
            for media_type, content in answer["content"].items()
        ],
    }


def _words(shape: dict[str, Any]) -> str:
    """The statuses of a protocol answer; nothing for other answers."""
    parts = shape.get("properties", {})
    return _type(parts["status"]) if "replayed" in parts else ""


def _fields(schema: dict[str, Any]) -> Iterator[Field]:
    for name, about in schema.get("properties", {}).items():
        yield Field(name, "", _type(about), name in schema.get("required", ()), about.get("description", ""))
    if "enum" in schema:
        yield Field("", "", _type(schema), True, "")


def _type(schema: dict[str, Any]) -> str:
    """A schema in words; the name of another one stands as it is."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    for several in ("anyOf", "allOf"):
        if several in schema:
            return " or ".join(_type(each) for each in schema[several] if each != {"const": ""})
    if "enum" in schema or "const" in schema:
        return " · ".join(str(word) for word in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    return str(schema.get("type", "anything"))
