"""The jobs of the stories: each has two steps, and the same spec but for its marks."""

import pytest

from .story import Story


@pytest.fixture
def new_job() -> Story:
    """Nobody has heard of it yet."""
    return Story()


@pytest.fixture
def mail_job() -> Story:
    job = Story()
    job.submit()
    return job


@pytest.fixture
def marked_job() -> Story:
    job = Story(dispatch="marked")
    job.submit()
    return job
