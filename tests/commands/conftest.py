"""A tenant whose clock the test sets: `scene` and `at(seconds)`."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from runs import ledger
from tests.races.scene import Scene

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set the database's clock to so many seconds after noon; it may step back."""

    def moved(seconds: float) -> None:
        monkeypatch.setattr(ledger, "clock", lambda _read=None: NOON + timedelta(seconds=seconds))

    moved(0)
    return moved


@pytest.fixture
def scene(db: None, at: Callable[[float], None]) -> Scene:
    return Scene()
