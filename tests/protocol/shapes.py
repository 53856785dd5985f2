"""Small helpers for the bounds: how many bytes, and which field a shape refuses."""

from typing import Any

from pydantic import BaseModel, ValidationError


def bytes_of(size: int) -> str:
    """Text of exactly `size` UTF-8 bytes, most of its characters two bytes long."""
    return "é" * (size // 2) + "x" * (size % 2)


def refused(shape: type[BaseModel], body: Any) -> list[str]:
    """The fields that `shape` refuses in `body`, as dotted paths; none where it takes it."""
    try:
        shape.model_validate(body)
    except ValidationError as error:
        return sorted({_field(one) for one in error.errors()})
    return []


def _field(error: Any) -> str:
    named = error.get("ctx", {}).get("field")
    return ".".join(str(part) for part in (*error["loc"], *([named] if named else [])))
