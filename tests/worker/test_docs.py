"""The examples of the worker's page: each parses, and what it imports is there."""

import ast
import importlib
import re
from pathlib import Path

import pytest

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
