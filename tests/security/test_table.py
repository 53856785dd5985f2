"""docs/attacks.md and SECURITY.md name a test for each line; none of them may be gone."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@cache
def named_in(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def lines(document: str) -> list[str]:
    return [
        line
        for line in (ROOT / document).read_text(encoding="utf-8").splitlines()
        if re.match(r"\| [V\d]", line)
    ]


@pytest.mark.parametrize(("document", "least"), [("docs/attacks.md", 70), ("SECURITY.md", 20)])
def test_each_line_has_its_test(document: str, least: int) -> None:
    found = lines(document)
    assert len(found) >= least
    for line in found:
        named = NAMED.findall(line)
        assert named or "not built" in line, line
        for file, test in named:
            assert test in named_in(file), f"{file}::{test}"


def test_the_attacks_are_numbered_and_different() -> None:
    found = lines("docs/attacks.md")
    assert [int(line.split("|")[1]) for line in found] == list(range(1, len(found) + 1))
    assert len({line.split("|")[2] for line in found}) == len(found)
