"""A pytest plugin, loaded first: it makes the environment that Django's settings are then read from.

`pytest --db=sqlite` (the default) or `pytest --db=postgres`: one engine in one run. All that a run makes
lies in a temporary folder and goes with it; the developer's own `var/` is never touched.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.databases import Engine, PostgresEngine, SqliteEngine
from tests.support.postgres import OwnPostgres

ENGINE = pytest.StashKey[Engine]()
#: Of these, what lies below a folder `real` is about the real server after all.
FOLDER_MARKS = {
    "browser": pytest.mark.browser,
    "model": pytest.mark.pure,
    "protocol": pytest.mark.pure,
    "worker": pytest.mark.pure,
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--db", choices=("sqlite", "postgres"), default="sqlite", help="what the tests run on")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Before pytest-django reads the settings, which happens inside the yield."""
    folder = Path(tempfile.mkdtemp(prefix="cancelboard-tests-"))
    early_config.add_cleanup(lambda: shutil.rmtree(folder))
    for name in [name for name in os.environ if name.startswith("CANCELBOARD_")]:
        del os.environ[name]
    os.environ["CANCELBOARD_VAR"] = str(folder)
    engine = early_config.stash[ENGINE] = make_engine(early_config, folder)
    os.environ["DATABASE_URL"] = engine.url("unset")
    return (yield)


def make_engine(config: pytest.Config, folder: Path) -> Engine:
    if config.known_args_namespace.db == "sqlite":
        return SqliteEngine(folder)
    if given := os.environ.get("TEST_DATABASE_URL"):
        return PostgresEngine(given)
    server = OwnPostgres()
    config.add_cleanup(server.stop)
    return PostgresEngine(server.url)


def pytest_report_header(config: pytest.Config) -> str:
    return f"database: {config.stash[ENGINE].describe()}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks by folder, so that the Makefile can say which tests run once, and which on one engine only."""
    tests = config.rootpath / "tests"
    for item in items:
        folders = item.path.relative_to(tests).parts
        if folders[0] in FOLDER_MARKS and "real" not in folders:
            item.add_marker(FOLDER_MARKS[folders[0]])
