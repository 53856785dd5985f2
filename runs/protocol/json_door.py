"""The one strict JSON parser: what any door hands to the shapes of this package has gone through here.

It refuses what the standard library lets pass: duplicate keys, NaN, fractions and exponents, integers beyond
2^53 - 1, lone surrogates, invalid UTF-8, hostile nesting. It knows no shapes.
"""

import json
from typing import Any

from runs.errors import FieldError, Invalid

from .fields import MAX_INTEGER

MAX_DEPTH = 64


class _Refused:
    """Stands where something was read that is refused everywhere, until its path is known."""

    def __init__(self, why: str) -> None:
        self.why = why


def _number(text: str) -> int | _Refused:
    if len(text) <= 17 and abs(int(text)) <= MAX_INTEGER:
        return int(text)
    return _Refused("is an integer beyond 2^53 - 1")


def _fraction(text: str) -> _Refused:
    return _Refused(f"is {text[:40]}: numbers are integers, without fraction or exponent")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                found[key] = _Refused("is given twice")
            seen.add(key)
    return found


_decoder = json.JSONDecoder(
    parse_int=_number, parse_float=_fraction, parse_constant=_fraction, object_pairs_hook=_object
)


def parse(body: bytes) -> Any:
    """The value in `body`, JSON in UTF-8. Raises Invalid with the path of what is wrong, or `body` when
    unreadable."""
    try:
        value = _decoder.decode(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Invalid(FieldError("body", f"is no UTF-8 at byte {error.start}")) from None
    except json.JSONDecodeError as error:
        raise Invalid(FieldError("body", f"is no JSON: {error.msg} at character {error.pos}")) from None
    except RecursionError:
        raise Invalid(FieldError("body", "is nested too deeply")) from None
    _check(value, ())
    return value


def _check(value: Any, path: tuple[str, ...]) -> None:
    if isinstance(value, _Refused):
        raise _invalid(path, value.why)
    if len(path) > MAX_DEPTH:
        raise _invalid(path[:8], f"is nested deeper than {MAX_DEPTH}")
    if isinstance(value, dict):
        for key, item in value.items():
            _check_text(key, path)
            _check(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check(item, (*path, str(index)))
    elif isinstance(value, str):
        _check_text(value, path)


def _check_text(text: str, path: tuple[str, ...]) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _invalid(path, "holds a lone surrogate") from None


def _invalid(path: tuple[str, ...], why: str) -> Invalid:
    """The path as text only now: under a key of half a MiB it would be written out once for each item."""
    return Invalid(FieldError(".".join(path) or "body", why))
