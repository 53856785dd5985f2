"""Every bound of a spec and an id (protocol.md, section 2) at its edge: the last that is taken, the first
that is refused, and the field."""

from typing import Any

import pytest

from runs.protocol import asks
from runs.protocol.fields import generation_of
from runs.protocol.spec import Spec

from .shapes import bytes_of, refused

BIGGEST = 2**53 - 1


def spec(**changes: Any) -> dict[str, Any]:
    return {"queue": "mail", "steps": ["a"], **changes}


def step(**changes: Any) -> dict[str, Any]:
    return spec(steps=["first", {"label": "second", **changes}])


def lists(depth: int) -> Any:
    """`depth` lists, one in the other."""
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


#: A body that is good, one that is not, and the field that is refused in it.
SPEC_EDGES = {
    "label of 200 bytes": (step(label=bytes_of(200)), step(label=bytes_of(201)), "steps.1.label"),
    "tool of 200 bytes": (step(tool=bytes_of(200)), step(tool=bytes_of(201)), "steps.1.tool"),
    "target of 200 bytes": (step(target=bytes_of(200)), step(target=bytes_of(201)), "steps.1.target"),
    "owner of 200 bytes": (spec(owner=bytes_of(200)), spec(owner=bytes_of(201)), "owner"),
    "a bare string of 200 bytes": (spec(steps=[bytes_of(200)]), spec(steps=[bytes_of(201)]), "steps.0.label"),
    "at least one step": (spec(steps=["a"]), spec(steps=[]), "steps"),
    "at most 256 steps": (spec(steps=["a"] * 256), spec(steps=["a"] * 257), "steps"),
    "params nested 16": (step(params={"a": lists(15)}), step(params={"a": lists(16)}), "steps.1.params"),
    "params of 16 KiB": (
        step(params={"a": "x" * (16_384 - len('{"a":""}'))}),
        step(params={"a": "x" * (16_385 - len('{"a":""}'))}),
        "steps.1.params",
    ),
    "params of 16 KiB as canonical bytes": (
        step(params={"b": [1, 2], "a": bytes_of(16_384 - len('{"a":"","b":[1,2]}'))}),
        step(params={"b": [1, 2], "a": bytes_of(16_385 - len('{"a":"","b":[1,2]}'))}),
        "steps.1.params",
    ),
    "the biggest integer": (step(params={"a": BIGGEST}), step(params={"a": BIGGEST + 1}), "steps.1.params"),
    "the smallest integer": (
        step(params={"a": [-BIGGEST]}),
        step(params={"a": [-BIGGEST - 1]}),
        "steps.1.params",
    ),
    "no fraction": (step(params={"a": 1}), step(params={"a": 1.0}), "steps.1.params"),
    "newline and tab in a string of params": (
        step(params={"a": "x\n\ty"}),
        step(params={"a": ["x\ry"]}),
        "steps.1.params",
    ),
    "no control character in a key": (
        step(params={"a b": 1}),
        step(params={"a": {"\x01": 1}}),
        "steps.1.params",
    ),
    "no lone surrogate": (step(params={"a": "\U0001f600"}), step(params={"a": "\ud83d"}), "steps.1.params"),
    "params is an object": (step(params={}), step(params=[]), "steps.1.params"),
    "two ways to dispatch": (spec(dispatch="marked"), spec(dispatch="Marked"), "dispatch"),
    "a parent is a job id": (spec(parent="order-7@1"), spec(parent="order 7"), "parent"),
    "a queue is an id": (spec(queue="mail.eu:1"), spec(queue="-mail"), "queue"),
    "a queue has no generation": (spec(queue="mail"), spec(queue="mail@1"), "queue"),
    "a queue of 128": (spec(queue="q" * 128), spec(queue="q" * 129), "queue"),
    "no unknown key of a spec": (spec(), spec(priority=1), "priority"),
    "no unknown key of a step": (step(), step(retries=1), "steps.1.retries"),
    "a label is text": (step(label=""), step(label=7), "steps.1.label"),
    "an owner is not null": (spec(owner=""), spec(owner=None), "owner"),
}


@pytest.mark.parametrize(("good", "bad", "field"), SPEC_EDGES.values(), ids=SPEC_EDGES)
def test_a_spec_s_bounds(good: Any, bad: Any, field: str) -> None:
    assert refused(Spec, good) == []
    assert refused(Spec, bad) == [field]


def test_what_is_required() -> None:
    assert refused(Spec, {}) == ["queue", "steps"]
    assert refused(Spec, spec(steps=[{"tool": "x"}])) == ["steps.0.label"]


def test_the_defaults() -> None:
    whole = Spec.model_validate(spec()).whole
    assert whole == {
        "queue": "mail",
        "owner": "",
        "dispatch": "unmarked",
        "parent": None,
        "steps": [{"label": "a", "tool": "", "target": "", "params": {}}],
    }


def test_nothing_is_cut_and_nothing_normalised() -> None:
    odd = "  e\u0301 \u200d\u202e  "
    assert Spec.model_validate(step(label=odd)).steps[1].label == odd


@pytest.mark.parametrize(
    "character", ["\x00", "\x1f", "\n", "\t", "\x7f", "\x85", "\x9f", chr(0xD800), chr(0xDFFF)]
)
@pytest.mark.parametrize("field", ["label", "tool", "target"])
def test_a_line_holds_no_control_character(field: str, character: str) -> None:
    assert refused(Spec, step(**{field: f"a{character}b"})) == [f"steps.1.{field}"]
    assert refused(Spec, spec(owner=character)) == ["owner"]


# -- ids ---------------------------------------------------------------------------------------------------

GOOD_IDS = ("a", "9", "A.b_c:d-e", "a" * 128, "0-", "z:::")
BAD_IDS = ("", "a" * 129, ".a", "_a", "-a", ":a", "~a", "a b", "a/b", "é", "a\n", "a\x00", "٣", "a~")
EVENT = {"event_id": "e", "claim": "1-x", "ordinal": 0, "outcome": "ok"}


@pytest.mark.parametrize("text", GOOD_IDS)
def test_ids_that_are_taken(text: str) -> None:
    assert refused(asks.Report, {**EVENT, "event_id": text}) == []
    assert refused(asks.Claim, {"worker": text}) == []
    assert refused(Spec, spec(queue=text, parent=text)) == []


@pytest.mark.parametrize("text", BAD_IDS)
def test_ids_that_are_refused(text: str) -> None:
    assert refused(asks.Report, {**EVENT, "event_id": text}) == ["event_id"]
    assert refused(asks.Claim, {"worker": text}) == ["worker"]
    assert refused(Spec, spec(queue=text, parent=text)) == ["parent", "queue"]


JOB_IDS = {
    "order-7@20261129": 20261129,
    "order-7": 0,
    "a@0": 0,
    "a@007": 7,
    f"a@{2**31 - 1}": 2**31 - 1,
    f"{'a' * 126}@1": 1,
}
BAD_JOB_IDS = (
    f"a@{2**31}",
    f"a@{10**100}",
    f"{'a' * 127}@1",
    "a@",
    "@1",
    "a@b",
    "a@1@2",
    "a@-1",
    "a@1 ",
    "a@1\n",
    "a@١",
)


@pytest.mark.parametrize(("text", "generation"), JOB_IDS.items())
def test_a_job_id_names_its_generation(text: str, generation: int) -> None:
    assert refused(asks.Submit, {"job_id": text, "spec": spec()}) == []
    assert generation_of(text) == generation


@pytest.mark.parametrize("text", BAD_JOB_IDS)
def test_job_ids_that_are_refused(text: str) -> None:
    assert refused(asks.Submit, {"job_id": text, "spec": spec()}) == ["job_id"]
