"""The beginning that most stories share."""

from collections.abc import Callable
from typing import Any

import pytest

from .commands import QUEUES
from .told import Told, spec


@pytest.fixture
def start() -> Callable[..., Told]:
    """A world where `j` is submitted, claimed for 90 s under fence 1 and its first step reserved."""

    def begin(**given: Any) -> Told:
        world = Told(QUEUES)
        assert world.say("submit", spec=spec(**given)) == (201, "admitted")
        assert world.say("claim", worker="worker-1") == (200, "claimed")
        assert world.say("reserve", claim=1, attempt="a") == (200, "reserved")
        return world

    return begin
