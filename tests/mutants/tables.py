"""Mutants of the protocol's tables, made from their source: a row left out, two neighbours swapped."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from .mutant import ROOT, Mutant, Selection

FOLDER = "runs/protocol/tables"
PAGE, SEARCH = "tests/protocol/test_tables.py", "tests/protocol/test_search.py"
FILES = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("tests/protocol/test_*.py"))
#: The page that the rows are laid beside comes first, because it is quick, and the long search last.
TESTS = Selection((PAGE, *(file for file in FILES if file not in (PAGE, SEARCH)), SEARCH))
#: What rows do, whatever the page says.
BEHAVIOUR = Selection(TESTS.arguments[1:])
#: Two rows that can't both fit, so that their order is free, and the page does not fix it in a table.
APART = {
    (
        "LAPSE",
        "lapse_leaves_unknown:lapsed",
        "lapse_puts_back:lapsed",
    ): "one needs a mark or a job without marks, the other a job with marks and none on the step",
    (
        "REPORT",
        "unknown_job:not_admitted",
        "tombstone:not_admitted",
    ): "one needs that there is no job, the other one",
    (
        "RESTORED",
        "*NO_JOB",
        "tombstone:not_admitted",
    ): "the former need that there is no job, the latter one",
}
#: A table whose rows are asked for elsewhere.
ELSEWHERE = {"RESTORED": Selection(("tests/protocol/test_restored.py", "tests/audit/test_restored.py"))}


def mutants(tests: Selection = TESTS) -> Iterator[Mutant]:
    for path in sorted((ROOT / FOLDER).glob("*.py")):
        if path.name != "__init__.py":
            source = path.read_text(encoding="utf-8")
            for node in ast.parse(source).body:
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
                    yield from _of_table(f"{FOLDER}/{path.name}", source, node, tests)


def _of_table(file: str, source: str, node: ast.Assign, tests: Selection) -> Iterator[Mutant]:
    assert isinstance(node.value, ast.Tuple)
    table, whole = ast.unparse(node.targets[0]), ast.get_source_segment(source, node) or ""
    tests = ELSEWHERE.get(table, tests)
    rows = [ast.get_source_segment(source, row) or "" for row in node.value.elts]
    calls = [row for row in node.value.elts if isinstance(row, ast.Call)]

    def mutant(what: str, new: list[str], equal: str = "") -> Mutant:
        text = f"{table} = ({', '.join(new)},)" if new else f"{table} = ()"
        return Mutant(f"{table} {what}", file, whole, text, tests, equal)

    names = [_name(row) for row in node.value.elts]
    for at, name in enumerate(names):
        yield mutant(f"without {name}", rows[:at] + rows[at + 1 :])
    for at, (one, other) in enumerate(pairwise(node.value.elts)):
        swapped = [*rows[:at], rows[at + 1], rows[at], *rows[at + 2 :]]
        alike = one in calls and other in calls and _answer(one) == _answer(other)
        equal = (
            "both rows answer and do the same" if alike else APART.get((table, names[at], names[at + 1]), "")
        )
        yield mutant(f"{names[at + 1]} before {names[at]}", swapped, equal)


def _name(row: ast.expr) -> str:
    """Its question and its word; or the rows that it stands for."""
    if isinstance(row, ast.Call):
        status = row.args[1]
        assert isinstance(status, ast.Constant)
        return f"{ast.unparse(row.args[0])}:{status.value}"
    return ast.unparse(row)


def _answer(row: ast.expr) -> str:
    """All that a row says and does, its question aside."""
    assert isinstance(row, ast.Call)
    return ast.unparse(ast.Call(row.func, row.args[1:], row.keywords))
