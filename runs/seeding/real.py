"""The hand that asks the real commands: slow, durable, and as real as it gets. Time is what it is."""

from datetime import timedelta
from typing import Any

from runs.commands import do
from runs.protocol.asks import Ask

from .deck import Deck
from .people import Cast
from .stories import BRIEF


class Commands:
    """Asks `runs.commands.do`, as the one whom the story names."""

    def __init__(self, cast: Cast) -> None:
        self.cast = cast

    def do(self, who: str, job_id: str, ask: Ask) -> dict[str, Any]:
        answer = do(self.cast.actors[who], job_id, ask)
        return {"status": answer.status, **answer.fields}

    def wait(self, by: timedelta) -> None:
        """Time can't be moved here: stories that need it are not told."""

    def recently(self) -> None:
        """Everything here happens now."""


def by_command(cast: Cast, jobs: int, seed: int) -> None:
    """`jobs` jobs of one tenant, one command after the other; each is committed when the next one begins."""
    deck = Deck(cast, Commands(cast), seed, BRIEF)
    while deck.told < jobs:
        deck.tell(at_most=jobs - deck.told)
