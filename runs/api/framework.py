"""django-ninja as this contract needs it: problems under their own media type, on any path and method."""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from django.http import HttpRequest, HttpResponseBase, HttpResponseNotAllowed
from django.urls import URLPattern, re_path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI

from runs.errors import NotVisible

from .problems import MEDIA_TYPE, MethodNotAllowed, problem

View = Callable[..., HttpResponseBase]


class Api(NinjaAPI):
    @property
    def urls(self) -> tuple[list[Any], str, str]:
        """Ninja's, but for their last, the root, which only names where they hang."""
        (*patterns, root), app, namespace = super().urls
        for pattern in patterns:
            assert isinstance(pattern, URLPattern)
            pattern.callback = _with_problem(pattern.callback)
        return [*patterns, re_path("", _nowhere), root], app, namespace

    @cache  # noqa: B019 (one instance, for as long as the process lives)
    def document(self) -> dict[str, Any]:
        """The OpenAPI 3.1 document."""
        document = dict(self.get_openapi_schema())
        shapes = document["components"]["schemas"]
        for operations in document["paths"].values():
            for operation in operations.values():
                operation["responses"] = {
                    str(code): told for code, told in sorted(operation["responses"].items())
                }
                for response in operation["responses"].values():
                    response["content"] = _by_media_type(response["content"]["application/json"]["schema"])
                for parameter in operation["parameters"]:
                    if not parameter["required"]:
                        parameter["schema"] = _or_empty(parameter["schema"])
                if body := operation.get("requestBody"):
                    name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
                    body["required"] = bool(shapes[name].get("required"))
        return document


def _by_media_type(schema: dict[str, Any]) -> dict[str, Any]:
    """Ninja knows one media type; a problem has its own, and so has a stream of events."""
    own = {"Problem": MEDIA_TYPE, "Events": "text/event-stream"}
    found: dict[str, Any] = {}
    for part in schema.get("anyOf", [schema]):
        name = part.get("$ref", "").rpartition("/")[2]
        found[own.get(name, "application/json")] = {"schema": part}
    return found


def _or_empty(schema: dict[str, Any]) -> dict[str, Any]:
    """A query has no null: what need not be given may be left empty."""
    given: list[Any] = [part for part in schema.pop("anyOf", [schema]) if part != {"type": "null"}]
    about: dict[str, Any] = {key: schema[key] for key in ("title", "description") if key in schema}
    return {**about, "anyOf": [*given, {"const": ""}]}


def _with_problem(view: View) -> View:
    """HEAD is GET without its body (RFC 9110), which ninja does not know; the server leaves the body out."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        head = request.method == "HEAD"
        if head:
            request.method = "GET"
        response = view(request, *args, **kwargs)
        if head:
            request.method = "HEAD"
        if not isinstance(response, HttpResponseNotAllowed):
            return response
        refused = problem(MethodNotAllowed(f"{request.method} is not served here."))
        allowed = [method.strip() for method in response["Allow"].split(",")]
        refused["Allow"] = ", ".join([*allowed, *(["HEAD"] if "GET" in allowed else [])])
        return refused

    return answered


@csrf_exempt
def _nowhere(request: HttpRequest) -> HttpResponseBase:
    return problem(NotVisible())
