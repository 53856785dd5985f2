"""Everybody, and who of them looks."""

from collections.abc import Callable

import pytest

from .cast import Browser, Stage


@pytest.fixture
def stage(db: None, monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = Stage()
    monkeypatch.setattr("runs.ledger.clock", made.clock)
    return made


@pytest.fixture
def browser_of(stage: Stage) -> Callable[[str], Browser]:
    return stage.browser


@pytest.fixture
def sam(stage: Stage) -> Browser:
    return stage.browser("sam")


@pytest.fixture
def lena(stage: Stage) -> Browser:
    return stage.browser("lena")


@pytest.fixture
def omar(stage: Stage) -> Browser:
    return stage.browser("omar")
