"""Any two commands that meet end as if one had come after the other: both answers, and all that is kept."""

from functools import partial
from typing import Any

import pytest

from runs.audit import breaches, snapshot
from runs.commands import spine
from tests.support.databases import Database

from .meeting import Side, meet
from .pairs import PAIRS, Pair
from .scene import told

Outcome = tuple[str, str, str]  #: the first one's answer, the second one's, and what is kept


def in_order(pair: Pair) -> tuple[Outcome, list[int]]:
    """The first, then the second; and where it is worth stopping the first one."""
    scene = told(pair.story)
    side = Side(partial(pair.first, scene)).start()
    return (side.join(), pair.second(scene), scene.seen()), list(side.stops)


def in_between(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """An ancestor's checkpoint is a later transaction: the second comes before the first one's."""
    scene, seconds, real = told(pair.story), [], spine._confirm_ancestors
    with monkeypatch.context() as later:

        def confirm(at: Any) -> None:
            later.setattr(spine, "_confirm_ancestors", real)
            seconds.append(pair.second(scene))
            real(at)

        later.setattr(spine, "_confirm_ancestors", confirm)
        first = pair.first(scene)
    return first, seconds[0], scene.seen()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_as_if_one_came_after_the_other(
    real_db: Database, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    forwards, stops = in_order(pair)
    backwards, stops_of_second = in_order(pair.swapped)
    allowed = [forwards, swapped(backwards)]
    if pair.goes_on:
        allowed.append(in_between(pair, monkeypatch))
    for stop in stops:
        scene = told(pair.story)
        answers = meet(partial(pair.first, scene), partial(pair.second, scene), stop)
        assert (*answers, scene.seen()) in allowed, f"the first one stopped after statement {stop}"
    for stop in stops_of_second:
        scene = told(pair.story)
        answers = meet(partial(pair.second, scene), partial(pair.first, scene), stop)
        assert swapped((*answers, scene.seen())) in allowed, f"the second one stopped after statement {stop}"
    with snapshot():
        assert list(breaches()) == []


def swapped(outcome: Outcome) -> Outcome:
    first, second, seen = outcome
    return second, first, seen
