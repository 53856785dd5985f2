"""What a story is, and where the told ones are kept."""

from collections.abc import Callable
from dataclasses import dataclass

from ..teller import Teller


@dataclass(frozen=True)
class Story:
    """`weight`: how many of a hundred jobs or so are told so. `jobs`: how many it makes."""

    tell: Callable[[Teller], None]
    weight: int
    jobs: int = 1


BRIEF: list[Story] = []  #: no time needs to pass
LONG: list[Story] = []  #: a lease ends, a day goes by


def story(
    weight: int, jobs: int = 1, into: list[Story] = BRIEF
) -> Callable[[Callable[[Teller], None]], Story]:
    def keep(tell: Callable[[Teller], None]) -> Story:
        into.append(Story(tell, weight, jobs))
        return into[-1]

    return keep
