"""Fixtures that every folder of tests may use: a database, a server, a browser. The cast is elsewhere.

db        pytest-django's: one shared database, rolled back after the test; `on_commit` does not run
real_db   a database of the test's own; commits are real, and `real_db.environment` is for other processes
manage    runs `manage.py` on real_db: exit code, output, errors
serve     a function that starts a real server on real_db, with any environment; `served` is one of them
"""

import os
from collections.abc import Callable, Iterator
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.core.management import call_command
from django.urls import get_resolver
from django.utils import translation

from tests.support.browser import launch_arguments
from tests.support.databases import Database, Engine, own_database, point_django_at
from tests.support.manage import Ended
from tests.support.manage import manage as run_manage
from tests.support.plugin import ENGINE
from tests.support.server import Served

TEMPLATE, SHARED = "template", "shared"

hypothesis.settings.register_profile("tests", deadline=None)  # two shared cores: time says nothing here
hypothesis.settings.load_profile("tests")


def pytest_configure() -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast


def pytest_sessionstart() -> None:
    """Every page is loaded now: one that was first imported while a test has put another clock in place would
    keep that one."""
    assert get_resolver().url_patterns


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> Engine:
    return request.config.stash[ENGINE]


@pytest.fixture(scope="session")
def static_files() -> None:
    """Pages name their static files by content: they must have been collected once."""
    call_command("collectstatic", interactive=False, verbosity=0)


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_blocker: Any, engine: Engine, static_files: None
) -> Any:
    """Instead of pytest-django's: migrates a template once; `db` works on one copy of it."""
    with django_db_blocker.unblock():
        engine.create(TEMPLATE)
        point_django_at(engine.url(TEMPLATE))
        call_command("migrate", verbosity=0)
        point_django_at(engine.url(SHARED))
        engine.clone(TEMPLATE, SHARED)
    yield
    with django_db_blocker.unblock():
        point_django_at(engine.url(SHARED))
        engine.drop(SHARED)
        engine.drop(TEMPLATE)


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    """A page that was asked for in another language leaves that one to its thread."""
    yield
    translation.deactivate()


@pytest.fixture
def real_db(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any, engine: Engine
) -> Iterator[Database]:
    assert "db" not in request.fixturenames, "one test, one database: db or real_db"
    with django_db_blocker.unblock(), own_database(engine, TEMPLATE, SHARED) as database:
        yield database


@pytest.fixture
def transactional_db() -> None:
    pytest.fail("receipts can't be deleted, so a database can't be flushed: use real_db")


@pytest.fixture
def live_server() -> None:
    pytest.fail("it has no sockets: use served")


@pytest.fixture
def manage(real_db: Database, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """`manage("can", "sam", "view", "j")` in this process."""
    return lambda *arguments: Ended(run_manage(*arguments), *capsys.readouterr())


@pytest.fixture
def serve(real_db: Database) -> Iterator[Callable[..., Served]]:
    """`serve()` runs a server, `serve("module:application", NAME="value")` another, in more environment."""
    running: list[Served] = []

    def start(application: str = "cancelboard.asgi:application", **environment: str) -> Served:
        running.append(Served(real_db.environment | environment, application))
        return running[-1].start()

    yield start
    codes = [server.stop() for server in running]
    assert not any(codes), f"a server ended with {codes}:\n" + "".join(
        line for one in running for line in one.log
    )


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    return serve()


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any], playwright: Any) -> dict[str, Any]:
    # Playwright's sync API keeps an event loop in this thread from now on; Django would refuse the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    return {**browser_type_launch_args, **launch_arguments(playwright.chromium.executable_path)}
