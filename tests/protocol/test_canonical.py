"""Canonical JSON and the digests made of it (protocol.md, sections 2 and 3), against rfc8785 and by hand."""

import hashlib
import json
from typing import Any

import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from runs.protocol.canonical import (
    NO_DIGEST,
    canonical,
    derived_event_id,
    digest,
    idempotency_key,
    receipt_digest,
)
from runs.protocol.fields import MAX_INTEGER
from runs.protocol.spec import Spec

from .shapes import a_spec

INTEGERS = st.integers(-MAX_INTEGER, MAX_INTEGER)
#: Around the surrogates, where code points and UTF-16 units sort unlike, and what JSON escapes.
EDGES = st.sampled_from('\ud7ff\ue000\uffff\U00010000\U0010ffff\x00\x1f\x7f\u2028"\\/\b\t')
TEXTS = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), EDGES), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=20,
)


@given(VALUES)
def test_it_is_rfc_8785(value: Any) -> None:
    assert canonical(value).encode() == rfc8785.dumps(value)


@given(st.dictionaries(TEXTS, INTEGERS, max_size=8))
def test_the_order_of_keys_says_nothing(value: dict[str, int]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)


@given(VALUES)
def test_it_can_be_read_back(value: Any) -> None:
    assert json.loads(canonical(value)) == value


def test_keys_sort_by_utf_16_units() -> None:
    """U+1F600 is D83D DE00 in UTF-16, so it stands before U+E000 though its code point is higher."""
    assert canonical({"\ue000": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\ue000":1}'
    assert (
        canonical({"b": 1, "a": [True, None, -0, "\n\x0f\x7f é"]})
        == '{"a":[true,null,0,"\\n\\u000f\x7f é"],"b":1}'
    )


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_spec_s_digest_is_over_its_defaults() -> None:
    """Written out by hand: the text, and the digest that `sha256sum` gives for it."""
    spec = Spec.model_validate({"queue": "mail", "steps": ["Send welcome mail"]})
    written = (
        '{"dispatch":"unmarked","owner":"","parent":null,"queue":"mail",'
        '"steps":[{"label":"Send welcome mail","params":{},"target":"","tool":""}]}'
    )
    assert canonical(spec.whole) == written
    assert spec.digest == sha(written) == "75030c50dc53569bcffd55658e7e2840973ae4bde675d18407fef4d6d4f05a0b"


def test_a_full_spec_s_digest() -> None:
    spec = Spec.model_validate(
        {
            "steps": [
                {
                    "tool": "smtp/2",
                    "params": {"b": 1, "a": {"ü": [None, False]}},
                    "label": "Grüße",
                    "target": "ada@x",
                }
            ],
            "parent": "order-7@20261129",
            "dispatch": "marked",
            "owner": "customer-81",
            "queue": "mail",
        }
    )
    written = (
        '{"dispatch":"marked","owner":"customer-81","parent":"order-7@20261129","queue":"mail","steps":'
        '[{"label":"Grüße","params":{"a":{"ü":[null,false]},"b":1},"target":"ada@x","tool":"smtp/2"}]}'
    )
    assert spec.digest == sha(written) == "e989922228656da344625ef6f660708f72266e290d57a90695dee8f4648e599f"


def test_equal_specs_have_equal_digests() -> None:
    short = Spec.model_validate({"queue": "q", "steps": ["a"]})
    long = {
        "queue": "q",
        "owner": "",
        "dispatch": "unmarked",
        "parent": None,
        "steps": [{"label": "a", "params": {}}],
    }
    assert Spec.model_validate(long).digest == short.digest
    for change in ({"owner": "x"}, {"dispatch": "marked"}, {"parent": "p"}, {"queue": "r"}, {"steps": ["b"]}):
        assert Spec.model_validate({**long, **change}).digest != short.digest


def test_no_unicode_normalisation() -> None:
    composed, decomposed = (a_spec(text) for text in ("é", "e\u0301"))
    assert composed.digest != decomposed.digest
    assert decomposed.steps[0].label == "e\u0301"


RECEIPT = {
    "seq": 1,
    "event_id": None,
    "job_id": "j",
    "kind": "submit",
    "status": "admitted",
    "actor": {"type": "service", "name": "w1"},
    "ordinal": None,
    "body": {},
    "detail": {},
    "at": "2026-11-29T12:00:00.000000Z",
    "prev_digest": NO_DIGEST,
}


def test_a_receipt_s_digest_leaves_out_itself_alone() -> None:
    written = (
        '{"actor":{"name":"w1","type":"service"},"at":"2026-11-29T12:00:00.000000Z","body":{},"detail":{},'
        '"event_id":null,"job_id":"j","kind":"submit","ordinal":null,'
        '"prev_digest":"0000000000000000000000000000000000000000000000000000000000000000",'
        '"seq":1,"status":"admitted"}'
    )
    assert (
        receipt_digest(RECEIPT)
        == sha(written)
        == "0654ec38da9689ec676eb95cc6f56ea3f5fe546e27f91aec17f058ea9119201c"
    )
    assert receipt_digest({**RECEIPT, "digest": "anything"}) == sha(written)


def test_a_receipt_s_digest_covers_every_other_key() -> None:
    others = {receipt_digest({**RECEIPT, key: "changed"}) for key in RECEIPT}
    assert len(others | {receipt_digest(RECEIPT)}) == len(RECEIPT) + 1


def test_the_idempotency_key_is_of_tenant_job_and_ordinal() -> None:
    assert idempotency_key("acme", "order-7@20261129", 0) == "cb-" + sha('["acme","order-7@20261129",0]')[:32]
    assert (
        len({idempotency_key(*of) for of in [("a", "b", 0), ("a", "b", 1), ("a", "c", 0), ("b", "b", 0)]})
        == 4
    )


def test_the_server_s_own_event_ids() -> None:
    assert derived_event_id("e1", "child-1") == "~" + sha('["e1","child-1"]')


def test_a_digest_is_of_the_canonical_text() -> None:
    assert digest({"b": 1, "a": 2}) == sha('{"a":2,"b":1}')
