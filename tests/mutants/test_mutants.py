"""The mutants still fit the code: each changes a text that stands there once. What kills it run.py asks."""

from collections import Counter
from pathlib import Path

from . import listed, tables
from .mutant import ROOT

ALL = [*listed.MUTANTS, *tables.mutants()]


def test_each_fits_the_code() -> None:
    for mutant in ALL:
        after = mutant.text()
        assert after != (ROOT / mutant.file).read_text(encoding="utf-8"), mutant.name
        compile(after, mutant.file, "exec")


def test_what_must_notice_it_is_there() -> None:
    """A file that was renamed would be no test at all."""
    for mutant in ALL:
        for argument in mutant.tests.arguments:
            if argument.startswith("tests/"):
                assert Path(ROOT, argument).exists(), (mutant.name, argument)


def test_each_has_a_name_of_its_own() -> None:
    assert [name for name, n in Counter(mutant.name for mutant in ALL).items() if n > 1] == []
