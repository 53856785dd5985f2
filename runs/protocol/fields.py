"""The bounds of PROTOCOL sections 2 and 6, as types. A value that has passed them may be stored as it is.

Strings are never normalised, never cut. Lengths are UTF-8 bytes. What breaks a bound raises pydantic's
ValidationError; the doors turn it into a 422 that names the field.
"""

import unicodedata
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

from .canonical import canonical

MAX_INTEGER = 2**53 - 1
MAX_GENERATION = 2**31 - 1
ID = r"^[A-Za-z0-9][A-Za-z0-9._:\-]{0,127}$"
JOB_ID = r"^[A-Za-z0-9][A-Za-z0-9._:\-]{0,127}(@[0-9]+)?$"


def no_control_characters(text: str, allowed: str = "") -> str:
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cs") and character not in allowed:
            raise ValueError(f"holds the character U+{ord(character):04X}, which is refused")
    return text


def _bounded(limit: int, allowed: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        size = len(no_control_characters(text, allowed).encode())
        if size > limit:
            raise ValueError(f"is {size} bytes of UTF-8; at most {limit} are taken")
        return text

    return check


def line(limit: int) -> Any:
    """One line of text of at most `limit` bytes."""
    return AfterValidator(_bounded(limit, ""))


def text(limit: int) -> Any:
    """Text of at most `limit` bytes that may hold newlines and tabs."""
    return AfterValidator(_bounded(limit, "\n\t"))


def _generation_fits(job_id: str) -> str:
    if len(job_id) > 128:
        raise ValueError("is longer than 128 characters")
    if generation_of(job_id) > MAX_GENERATION:
        raise ValueError("names a generation of 2^31 or more after its @")
    return job_id


def generation_of(job_id: str) -> int:
    """The integer after `@`, 0 without one (PROTOCOL section 2)."""
    return int(job_id.rpartition("@")[2]) if "@" in job_id else 0


def _link(value: str) -> str:
    if not value.lower().startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    return value


def _params(value: dict[str, Any]) -> dict[str, Any]:
    _walk(value, 1)
    if len(canonical(value).encode()) > 16 * 1024:
        raise ValueError("is larger than 16 KiB")
    return value


def _walk(value: Any, depth: int) -> None:
    if depth > 16 and isinstance(value, dict | list):
        raise ValueError("is nested deeper than 16")
    if isinstance(value, dict):
        for key, item in value.items():
            no_control_characters(key)
            _walk(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _walk(item, depth + 1)
    elif isinstance(value, str):
        no_control_characters(value, "\n\t")
    elif isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise ValueError("holds an integer beyond 2^53 - 1")
    elif value is not None:
        raise ValueError("may hold objects, lists, strings, integers, true, false and null")


Id = Annotated[str, StringConstraints(pattern=ID)]
JobId = Annotated[str, StringConstraints(pattern=JOB_ID), AfterValidator(_generation_fits)]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Line200 = Annotated[str, line(200)]
Line128 = Annotated[str, line(128)]
Attempt = Annotated[str, Field(min_length=1), line(128)]
Note = Annotated[str, text(4096)]
Link = Annotated[str, line(2000), AfterValidator(_link)]
Params = Annotated[dict[str, Any], AfterValidator(_params)]
Integer = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Ordinal = Integer
Generation = Annotated[int, Field(ge=0, le=MAX_GENERATION)]


class Shape(BaseModel):
    """A body: exact types, no unknown keys, never changed after it was checked."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


def misfit(field: str, message: str) -> PydanticCustomError:
    """An error that two fields make together, laid at the door of the one to mend."""
    return PydanticCustomError("misfit", "{message}", {"field": field, "message": message})
