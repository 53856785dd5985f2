"""The tenant and its callers, each through the door that is theirs."""

from collections.abc import Callable

import pytest

from runs.models import Tenant, User

from .cast import Caller, bearer, people, session, tenant, token_for


@pytest.fixture
def acme(db: None) -> Tenant:
    return tenant()


@pytest.fixture
def cast(acme: Tenant) -> dict[str, User]:
    return people(acme)


@pytest.fixture
def w1(cast: dict[str, User]) -> Caller:
    return bearer(token_for(cast["w1"], ["view", "submit", "execute"]))


@pytest.fixture
def app(cast: dict[str, User]) -> Caller:
    """A service account that may do everything a service account may."""
    return bearer(token_for(cast["app"]))


@pytest.fixture
def person(cast: dict[str, User]) -> Callable[[str], Caller]:
    """`person("lena")`: her browser."""
    return lambda name: session(cast[name])


@pytest.fixture
def nobody(acme: Tenant) -> Caller:
    return Caller()
