"""Pydantic's complaints as ours: the field by its dotted path, and a sentence that says what it must be."""

from collections.abc import Iterable
from typing import Any

from runs.errors import FieldError
from runs.protocol.fields import ID, JOB_ID

ID_RULE = "must be 1 to 128 of A-Z a-z 0-9 . _ : -, the first a letter or digit"
PATTERNS = {
    ID: ID_RULE,
    JOB_ID: f"{ID_RULE}; it may end in @ and digits",
    "^[0-9a-f]{64}$": "must be 64 hexadecimal digits in lower case",
}
SENTENCES = {
    "missing": "is required",
    "extra_forbidden": "is not known here",
    "string_type": "must be a string",
    "int_type": "must be an integer",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "literal_error": "must be {expected}",
    "too_short": "must hold at least {min_length}",
    "too_long": "must hold at most {max_length}",
    "string_too_short": "must not be empty",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le} or less",
    "value_error": "{error}",
    "misfit": "{message}",
    "string_pattern_mismatch": "{rule}",
}


def field_errors(errors: Iterable[dict[str, Any]]) -> tuple[FieldError, ...]:
    """From ninja's list, whose paths begin with `query`, or with `body` and the parameter's name."""
    return tuple(FieldError(_field(error), _message(error)) for error in errors)


def _field(error: dict[str, Any]) -> str:
    where, *path = error["loc"]
    if where == "body":
        del path[:1]
    if error["type"] == "misfit":
        path.append(error["ctx"]["field"])
    return ".".join(map(str, path)) or where


def _message(error: dict[str, Any]) -> str:
    about = error.get("ctx", {})
    rule = PATTERNS.get(about.get("pattern", ""), "has another form")
    sentence = SENTENCES.get(error["type"])
    return sentence.format(**about, rule=rule) if sentence else error["msg"].replace("Input should", "should")
