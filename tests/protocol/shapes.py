"""Small helpers for shapes: a spec in one line, so many bytes of text, and which field a shape refuses."""

from typing import Any

from pydantic import BaseModel, ValidationError

from runs.protocol.spec import Spec


def a_spec(*steps: Any, **facts: Any) -> Spec:
    """A spec in the queue `mail`, its steps as a caller may write them."""
    return Spec.model_validate({"queue": "mail", "steps": list(steps), **facts})


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
