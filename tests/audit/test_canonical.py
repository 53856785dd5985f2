"""The audit's own canonical JSON is RFC 8785's: held against a library that the product uses elsewhere."""

from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from runs.audit.canonical import canonical, digest

pytestmark = pytest.mark.pure

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
LEAVES = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=20)


@given(VALUES)
def test_it_is_rfc_8785(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value).decode()


def test_keys_are_sorted_by_utf_16_units() -> None:
    """U+10000 begins with the unit D800, so it stands before U+E000."""
    assert canonical({"\ue000": 1, "\U00010000": 2}) == '{"\U00010000":2,"\ue000":1}'


def test_the_digest_of_nothing() -> None:
    """`printf '{}' | sha256sum`."""
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
