"""An agent's loop: stop stepping. Bound: the turn that is running, which has adapters of its own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from runs.worker import CancelToken


def turns(token: CancelToken, at_most: int | None = None) -> Iterator[int]:
    """0, 1, 2, …; raises Cancelled in place of the next turn. Ends after `at_most`."""
    for turn in count() if at_most is None else range(at_most):
        token.raise_if_cancelled()
        yield turn
