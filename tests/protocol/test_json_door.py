"""The one strict parser: hostile bodies, and the field that each is refused with (protocol.md, section 2)."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.errors import Invalid
from runs.protocol.json_door import parse

from .test_canonical import VALUES

BIGGEST = 2**53 - 1

HOSTILE = {
    # not JSON at all, or not readable: the body
    "empty": (b"", "body"),
    "blank": (b" ", "body"),
    "two values": (b"{} {}", "body"),
    "a trailing comma": (b'{"a": 1,}', "body"),
    "single quotes": (b"{'a': 1}", "body"),
    "a byte order mark": (b'\xef\xbb\xbf{"a": 1}', "body"),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), "body"),
    "invalid UTF-8": (b'{"a": "\xff"}', "body"),
    "a surrogate in UTF-8": (b'{"a": "\xed\xa0\x80"}', "body"),
    "overlong UTF-8": (b'{"a": "\xc0\xaf"}', "body"),
    "a raw newline in a string": (b'{"a": "\n"}', "body"),
    "a raw NUL in a string": (b'{"a": "\x00"}', "body"),
    "100,000 open lists": (b"[" * 100_000, "body"),
    "100,000 lists": (b"[" * 100_000 + b"]" * 100_000, "body"),
    "100,000 objects": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "body"),
    # numbers
    "NaN": (b'{"a": NaN}', "a"),
    "Infinity": (b'{"a": {"b": [0, Infinity]}}', "a.b.1"),
    "-Infinity": (b'{"a": -Infinity}', "a"),
    "an overflow": (b'{"a": 1e400}', "a"),
    "an exponent": (b'{"a": 1E2}', "a"),
    "a fraction": (b'{"a": 1.0}', "a"),
    "a small fraction": (b'{"a": 0.1}', "a"),
    "a number alone": (b"1.5", "body"),
    "2^53": (b'{"a": 9007199254740992}', "a"),
    "-2^53": (b'{"a": -9007199254740992}', "a"),
    "a huge integer": (b'{"a": ' + b"9" * 100_000 + b"}", "a"),
    "a leading zero": (b'{"a": 01}', "body"),
    "a plus": (b'{"a": +1}', "body"),
    # keys given twice
    "a key twice": (b'{"a": 1, "a": 1}', "a"),
    "a key twice at depth": (
        b'{"spec": {"steps": [{}, {"label": "x", "label": "y"}]}}',
        "spec.steps.1.label",
    ),
    "a key twice, escaped": (b'{"a": 1, "\\u0061": 2}', "a"),
    "a key three times": (b'{"b": {"a": 1, "a": 2, "a": 3}}', "b.a"),
    # lone surrogates
    "a lone high surrogate": (b'{"a": "\\ud800"}', "a"),
    "a lone low surrogate": (b'{"a": {"b": ["\\udc00"]}}', "a.b.0"),
    "surrogates the wrong way round": (b'{"a": "\\udc00\\ud800"}', "a"),
    "a lone surrogate in a key": (b'{"a": {"\\ud800": 1}}', "a"),
    "a lone surrogate in the first key": (b'{"\\ud800": 1}', "body"),
}


@pytest.mark.parametrize(("body", "field"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_body_is_refused_with_its_field(body: bytes, field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        parse(body)
    assert [error.field for error in refusal.value.errors] == [field]
    str(refusal.value).encode()


GOOD = {
    "the biggest integers": (f"[{BIGGEST}, {-BIGGEST}]".encode(), [BIGGEST, -BIGGEST]),
    "minus zero is zero": (b"[-0]", [0]),
    "a surrogate pair": (b'"\\ud83d\\ude00"', "\U0001f600"),
    "an escaped NUL": (b'"\\u0000"', "\x00"),
    "the same key in two objects": (b'[{"a": 1}, {"a": 1}]', [{"a": 1}, {"a": 1}]),
    "white space around": (b' \n{"a": null}\t', {"a": None}),
    "an empty key": (b'{"": ""}', {"": ""}),
}


@pytest.mark.parametrize(("body", "value"), GOOD.values(), ids=GOOD)
def test_odd_but_good(body: bytes, value: Any) -> None:
    assert parse(body) == value


@given(VALUES)
def test_what_is_good_comes_through_as_it_is(value: Any) -> None:
    assert parse(json.dumps(value).encode()) == value


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with suppress(Invalid):  # any other exception would be a 500
        parse(body)


@pytest.mark.parametrize("depth", [64, 65, 500])
def test_depth_is_bounded_before_anything_looks_at_it(depth: int) -> None:
    body = b'{"a":' * depth + b"1" + b"}" * depth
    if depth == 64:
        assert parse(body)
    else:
        with pytest.raises(Invalid, match="nested deeper than 64"):
            parse(body)


def test_a_refused_number_never_reaches_the_shapes() -> None:
    with pytest.raises(Invalid) as refusal:
        parse(b'{"ordinal": 1.0, "event_id": "e"}')
    assert str(refusal.value) == "ordinal: is 1.0: numbers are integers, without fraction or exponent"
