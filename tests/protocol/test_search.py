"""Small jobs, exhaustively: from an empty world, all that everybody may say, in every order, with any number
of claims. `make prove` looks further, for minutes.

The numbers of places in search/bound.py are what was found: a change of the protocol changes them.
"""

from collections import deque
from collections.abc import Hashable
from functools import cache

import pytest

from runs.protocol.states import Control, Result
from runs.protocol.tables import TABLES
from tests.support.scale import scale

from .search.bound import BOUNDS, SHORT, Bound
from .search.explore import Found, search
from .search.family import search_family
from .search.place import Place

each_bound = pytest.mark.parametrize("bound", BOUNDS, ids=str)
pytestmark = [pytest.mark.prove, pytest.mark.timeout(3600)]
searched = cache(search)


@each_bound
def test_every_invariant_and_every_law_holds_everywhere(bound: Bound) -> None:
    found = searched(bound)
    print(f"{bound}: {len(found.places)} places, {sum(found.decided.values())} decisions")
    assert found.breaches == []


@each_bound
def test_the_search_is_as_wide_as_it_was(bound: Bound) -> None:
    assert len(searched(bound).places) == BOUNDS[bound]


@each_bound
def test_from_everywhere_the_job_can_come_to_an_end(bound: Bound) -> None:
    found = searched(bound)
    ends = [key for key, place in found.places.items() if is_end(place)]
    assert found.places.keys() - leading_to(ends, found) == set()


def is_end(place: Place) -> bool:
    """A confirmed stop, a final result, or no job where none may begin."""
    job = place.job
    return (
        place.sealed if job is None else job.control is Control.ACKNOWLEDGED or job.result is not Result.OPEN
    )


def leading_to(ends: list[Hashable], found: Found) -> set[Hashable]:
    reached, waiting = set(ends), deque(ends)
    while waiting:
        new = found.before.get(waiting.popleft(), set()) - reached
        reached |= new
        waiting.extend(new)
    return reached


def test_every_row_of_every_table_decides_somewhere() -> None:
    seen = {decider for bound in SHORT for decider in searched(bound).decided}
    rows = {
        (kind, id(row)): (kind, row.when.__name__, row.status)
        for kind, table in TABLES.items()
        if kind != "restored"  # no command leads to a backup: tests/audit/test_restored.py
        for row in table
    }
    assert [name for decider, name in rows.items() if decider not in seen] == []


@pytest.mark.parametrize(("size", "places"), scale([(2, 133)], [(2, 133), (3, 1464)]))
def test_a_cancel_is_passed_on_and_every_invariant_holds_in_every_family(size: int, places: int) -> None:
    found, breaches = search_family(size)
    print(f"{size} generations: {found} families")
    assert breaches == []
    assert found == places, "a change of the protocol changes it"
