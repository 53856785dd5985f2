"""What a request says, read strictly: a JSON body through the one parser, and a query with no unknown keys.

As parameters for ninja: `ask: Annotated[Cancel, Json(...)]`, `wanted: Annotated[JobFilter, Asked(...)]`.
"""

from typing import Any

from django.http import HttpRequest
from ninja.params.models import Body, BodyModel, Query, QueryModel

from runs.errors import FieldError, Invalid, TooLarge, WrongMediaType
from runs.protocol.json_door import parse

MOST = 1024 * 1024  #: bytes of a body (PROTOCOL section 2)


def read(request: HttpRequest) -> bytes:
    """The body, whatever length it was announced with. Raises TooLarge, WrongMediaType."""
    raw = request.read(MOST + 1)
    if len(raw) > MOST:
        raise TooLarge(f"A body may be {MOST} bytes at most.")
    charset = (request.content_params or {}).get("charset", "utf-8").lower()
    if raw and (request.content_type != "application/json" or charset not in ("utf-8", "utf8")):
        raise WrongMediaType("The body must be application/json, in UTF-8.")
    return raw


class _JsonModel(BodyModel):
    @classmethod
    def get_request_data(cls, request: HttpRequest, api: Any, path_params: Any) -> dict[str, Any]:
        name = cls.__read_from_single_attr__
        return {name: parse(raw) if (raw := read(request)) else cls._nothing(name)}

    @classmethod
    def _nothing(cls, name: str) -> dict[str, Any]:
        """No body at all says as much as `{}`, where that says enough."""
        model: Any = cls.model_fields[name].annotation
        if any(field.is_required() for field in model.model_fields.values()):
            raise Invalid(FieldError("body", "is empty: a JSON object is required"))
        return {}


class Json(Body):  # type: ignore[misc]  # as ninja's own parameters do
    _model = _JsonModel

    @classmethod
    def _param_source(cls) -> str:
        return "body"


class _QueryModel(QueryModel):
    @classmethod
    def get_request_data(cls, request: HttpRequest, api: Any, path_params: Any) -> dict[str, Any]:
        """An empty value is not given; an unknown name is a mistake, which would widen a list unseen."""
        known = cls.__ninja_flatten_map__  # type: ignore[attr-defined]
        for name in request.GET:
            if name not in known:
                raise Invalid(FieldError(name, "is no parameter of this call"))
            if len(request.GET.getlist(name)) > 1:
                raise Invalid(FieldError(name, "is given twice"))
        return {name: value for name, value in request.GET.items() if value}


class Asked(Query):  # type: ignore[misc]
    _model = _QueryModel

    @classmethod
    def _param_source(cls) -> str:
        return "query"
