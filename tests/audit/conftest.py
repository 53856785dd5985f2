"""A story with its own database: commits are real, and its owner may tamper with it."""

from collections.abc import Iterator
from typing import Any

import pytest

from runs.models import Tenant
from tests.support.databases import Database, Engine, own_database

from . import stories
from .cast import Story


@pytest.fixture
def story(real_db: Database, monkeypatch: pytest.MonkeyPatch) -> Story:
    made = Story()
    monkeypatch.setattr("runs.ledger.clock", made.clock)
    return made


@pytest.fixture(scope="module")
def told(django_db_setup: None, django_db_blocker: Any, engine: Engine) -> Iterator[Story]:
    """Every story, told once for a whole module: for tests that roll back what they change."""
    with (
        django_db_blocker.unblock(),
        own_database(engine, "template", "shared"),
        pytest.MonkeyPatch.context() as patch,
    ):
        made = Story()
        patch.setattr("runs.ledger.clock", made.clock)
        stories.tell_all(made)
        Tenant.objects.create(name="other")
        yield made
