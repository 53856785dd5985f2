"""The matrix of docs/permissions.md, "The demo's people": person, action and job, by each way of asking."""

import re
from pathlib import Path

import pytest

from runs.ledger import clock
from runs.models import Job, User
from runs.permissions import TENANT_WIDE, Action, Actor, Target, rights_of, visible

from .conftest import JOBS

PEOPLE = ("sam", "lena", "omar", "olga", "aud", "ada", "w1")
COLUMNS = tuple(column for column, *_ in JOBS)
MATRIX = {
    "view": ("sam lena omar olga aud w1", "sam lena omar aud w1", "sam lena omar aud"),
    "cancel": ("lena omar olga", "lena omar", "lena"),
    "block": ("omar", "omar", ""),
    "pause": ("omar", "omar", ""),
    "revoke": ("lena omar", "lena omar", "lena"),
    "reconcile": ("sam lena", "sam lena", "lena"),
    "approve": ("lena", "lena", "lena"),  # not her own: test_two_people
    "execute": ("w1", "w1", ""),
    "submit": ("w1", "w1", ""),
    "export": ("aud", "aud", "aud"),
    # Not in the page's matrix, but in the grants above it:
    "seal": ("", "", ""),
    "manage_grants": ("ada", "ada", "ada"),
}


def expected(action: str, column: str) -> set[str]:
    return set(MATRIX[action][COLUMNS.index(column)].split())


def test_every_action_is_in_it() -> None:
    assert set(MATRIX) == set(Action)


def test_it_is_the_pages_matrix() -> None:
    page = (Path(__file__).parents[2] / "docs" / "permissions.md").read_text()
    rows = re.findall(
        r"^\| ([a-z, ]+) \| (.+) \| (.+) \| (.+) \|$", page.partition("| action on →")[2], re.MULTILINE
    )
    assert len(rows) == 9
    for actions, *cells in rows:
        for action in actions.split(", "):
            plain = [cell.replace(", not her own", "").replace("nobody", "") for cell in cells]
            assert plain == list(MATRIX[action])


@pytest.mark.parametrize("action", Action)
def test_judge(people: dict[str, User], jobs: dict[str, Job], action: Action) -> None:
    now = clock()
    for column, job in jobs.items():
        may = set()
        for name in PEOPLE:
            rights = rights_of(Actor.of_user(people[name]), now)
            if rights.judge(action, Target.of(job), now=now).allowed:
                may.add(name)
        assert may == expected(action, column), column


@pytest.mark.parametrize("action", Action)
def test_filter(people: dict[str, User], jobs: dict[str, Job], action: Action) -> None:
    now = clock()
    for name in PEOPLE:
        rows = visible(Job.objects.all(), Actor.of_user(people[name]), now, action)
        assert {job.pk for job in rows} == {
            job.pk for column, job in jobs.items() if name in expected(action, column)
        }, name


@pytest.mark.parametrize("action", Action)
def test_has_perm(people: dict[str, User], jobs: dict[str, Job], action: Action) -> None:
    for column, job in jobs.items():
        assert {name for name in PEOPLE if people[name].has_perm(f"can.{action}", job)} == expected(
            action, column
        )


def test_acting_needs_view_too() -> None:
    """Who may act in the matrix may view there: so the three ways can agree on every row."""
    for action in set(Action) - TENANT_WIDE:
        for column in COLUMNS:
            assert expected(action, column) <= expected("view", column)
