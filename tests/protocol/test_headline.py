"""The headline (http.md): one code for every combination, the first of the page's list that applies."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from runs.protocol.headline import headline
from runs.protocol.states import Control, Result, State


@dataclass(frozen=True)
class At:
    admitted: bool
    control: str
    result: str
    current: str
    paused: bool
    too_late: bool


ALL = [
    At(*facts)
    for facts in product(
        (True, False),
        ("run", "requested", "acknowledged"),
        ("open", "succeeded", "failed"),
        ("pending", "inflight", "unknown", "ok", "rejected"),
        (True, False),
        (True, False),
    )
]

#: http.md, in its order; the first that applies.
PAGE: list[tuple[str, Callable[[At], bool]]] = [
    ("blocked_before_start", lambda at: not at.admitted),
    ("stopped", lambda at: at.control == "acknowledged" and at.result == "open"),
    ("completed_despite_cancel", lambda at: at.control == "acknowledged" and at.result == "succeeded"),
    ("stopped_after_failure", lambda at: at.control == "acknowledged" and at.result == "failed"),
    ("verifying_unknown", lambda at: at.control == "requested" and at.current == "unknown"),
    ("verifying", lambda at: at.control == "requested" and at.current == "inflight"),
    ("stopping", lambda at: at.control == "requested"),
    ("completed", lambda at: at.result == "succeeded" and not at.too_late),
    ("failed", lambda at: at.result == "failed" and not at.too_late),
    ("completed_cancel_too_late", lambda at: at.result == "succeeded"),
    ("failed_cancel_too_late", lambda at: at.result == "failed"),
    ("outcome_unknown", lambda at: at.current == "unknown"),
    ("working", lambda at: at.current == "inflight"),
    ("paused", lambda at: at.paused),
    ("ready", lambda at: True),
]


def of(at: At) -> str:
    return headline(
        at.admitted, Control(at.control), Result(at.result), State(at.current), at.paused, at.too_late
    )


@pytest.mark.parametrize("at", ALL)
def test_the_first_that_applies(at: At) -> None:
    assert of(at) == next(code for code, applies in PAGE if applies(at))


def test_every_code_is_reached() -> None:
    assert {of(at) for at in ALL} == {code for code, _ in PAGE}


def test_the_page_lists_these_codes_in_this_order() -> None:
    page = (Path(__file__).parents[2] / "docs" / "http.md").read_text(encoding="utf-8")
    listed = page[page.index("`headline` is one code") : page.index("## Command line")]
    words = re.findall(r"`([a-z_]+)`", listed)[1:]
    assert words == [code for code, _ in PAGE]
