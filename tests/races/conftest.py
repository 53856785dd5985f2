"""The same processes for all tests of a run: starting one costs more than what it does in a test."""

from collections.abc import Iterator

import pytest

from tests.support.scale import PROVE

from . import test_processes
from .processes import Process, running


@pytest.fixture(scope="session")
def three(django_db_setup: None) -> Iterator[list[Process]]:
    yield from running(3)


@pytest.fixture
def two(three: list[Process]) -> list[Process]:
    return three[:2]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if PROVE and test_processes.TALLY:
        terminalreporter.section("races: who came first in free runs")
        for name, tally in sorted(test_processes.TALLY.items()):
            counted = ", ".join(f"{who} {times}" for who, times in sorted(tally.items()))
            terminalreporter.line(f"{name}: {counted}")
