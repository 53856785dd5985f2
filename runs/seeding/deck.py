"""Which story comes next: each once first, in any order, and from then on by weight. Fixed by the seed."""

from random import Random

from .people import Cast
from .stories import Story
from .teller import Hand, Teller


class Deck:
    """`told` jobs so far, with ids `s<seed>-<number>`, of the first generation that is not sealed.

    `rounds`: how often the deck was shuffled again; in the first round each story is told once.
    """

    def __init__(self, cast: Cast, hand: Hand, seed: int, stories: list[Story]) -> None:
        self.told = 0
        self.prefix, self.suffix = id_parts(cast, seed)
        self.rng = Random(seed)  # noqa: S311 (a seed is what is wanted)
        self.teller = Teller(cast, hand, self.rng, self.new_id, prefix=f"s{seed}")
        self.rounds, self.stories = 0, stories
        self.waiting = list(stories)
        self.rng.shuffle(self.waiting)

    def new_id(self) -> str:
        self.told += 1
        return f"{self.prefix}{self.told:07d}{self.suffix}"

    def tell(self, at_most: int) -> None:
        """The next story that makes no more than so many jobs."""
        if not self.waiting:
            self.waiting = [story for story in self.stories for _ in range(story.weight)]
            self.rng.shuffle(self.waiting)
            self.rounds += 1
        fits = next((n for n, story in enumerate(self.waiting) if story.jobs <= at_most), None)
        chosen = self.stories[0] if fits is None else self.waiting.pop(fits)
        chosen.tell(self.teller)


def id_parts(cast: Cast, seed: int) -> tuple[str, str]:
    """What stands before and behind the number in a job id."""
    sealed = cast.tenant.sealed_generation
    return f"s{seed}-", f"@{sealed + 1}" if sealed >= 0 else ""
