"""The examples of the worker's page: each parses, and what it imports is there."""

import ast
import importlib
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from runs.worker import CancelToken, Client

from .conftest import Server

PAGE = Path(__file__).parent.parent.parent / "docs" / "worker.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_holds_together(example: str) -> None:
    tree = compile(example, "docs/worker.md", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runs."):
            if node.module in ("runs.adapters.celery", "runs.adapters.procrastinate"):
                pytest.importorskip(node.module.rsplit(".")[-1], reason="an engine of an extra")
            module = importlib.import_module(node.module)
            assert [name.name for name in node.names if not hasattr(module, name.name)] == []


def test_the_plain_function_of_the_page_runs_once_and_never_after_a_cancel(
    server: Server, caller: Client
) -> None:
    (recipe,) = [example for example in EXAMPLES if "def nightly(" in example]
    names: dict[str, Any] = {}
    exec(recipe, names)  # the page's own words
    exported = list[str]()

    def export(day: str, token: CancelToken) -> str:
        assert not token.cancelled
        exported.append(day)
        return "12 rows"

    days = [uuid4().hex, uuid4().hex]
    assert [names["nightly"](caller, days[0], export) for _ in range(2)] == ["finished", "closed"]
    spec = {"queue": "mail", "dispatch": "marked"}
    step = {"label": "Export", "tool": "export", "target": days[1]}
    assert caller.cancel(f"export-{days[1]}", spec={**spec, "steps": [step]}).status == "tombstoned"
    assert names["nightly"](caller, days[1], export) == "blocked"
    assert exported == days[:1]
