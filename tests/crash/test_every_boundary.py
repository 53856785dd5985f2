"""A process that dies anywhere in a command leaves all of it or nothing, and the same request, sent again to
another process, ends as it would have ended without the death.

The long run dies at every boundary, `make test` at one of them.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from runs import settle, tallies
from runs.audit import breaches, snapshot
from runs.models import Operation, Tenant, User
from runs.protocol.tables import TABLES
from tests.api.cast import headers_of
from tests.races.scene import Scene, plain, told
from tests.support.databases import Database
from tests.support.scale import scale

from .cases import CASES, NOTHING_LEFT, REPLAYED, Case
from .process import Request, dies, lives


@dataclass
class Story:
    """A story that was told, and the request that comes next."""

    case: Case
    scene: Scene = field(init=False)
    request: Request = field(init=False)

    def __post_init__(self) -> None:
        case = self.case
        self.scene = told(case.story, case.ago)
        body = {} if case.again == NOTHING_LEFT else self.scene.filled(case.command, case.job_id, case.body)
        tallies.fold()  # what a pass counts is then its own receipts, whoever came before
        user = User.objects.get(pk=self.scene.actors[case.who].user_id)
        self.request = Request(case.command, self.asked_of(), body, headers_of(user))
        self.before = self.rows()
        connection.close()  # on SQLite the process that dies shall be the last one to hold the file

    def asked_of(self) -> str | None:
        if self.case.command == "abort":
            return Operation.objects.get(tenant=self.scene.tenant).operation_id
        return self.case.job_id

    def rows(self) -> list[Any]:
        """All that the database holds of the tenant, to the letter."""
        tables = [list(Tenant.objects.filter(pk=self.scene.tenant.pk).values_list())]
        for model in apps.get_app_config("runs").get_models():
            if any(column.name == "tenant" for column in model._meta.fields):
                of_tenant = model._default_manager.filter(tenant=self.scene.tenant)
                tables.append(list(of_tenant.order_by("pk").values_list()))
        return tables

    def view(self) -> tuple[bool, str]:
        """Whether anything has changed, and what there is."""
        return self.rows() != self.before, self.seen()

    def settled(self) -> str:
        """What there is once a settle pass has done what was left."""
        settle.one_pass()
        return self.seen()

    def seen(self) -> str:
        """A loop that goes on where a killed one was may ask again under the same event id: not counted."""
        seen = json.loads(self.scene.seen())
        if self.case.again == NOTHING_LEFT:
            del seen["deliveries"]
        return json.dumps(seen, indent=1)


@dataclass
class Course:
    """What happens when nobody dies: the request, a settle pass, the same request again, another pass."""

    case: Case
    url: str
    boundaries: list[str] = field(default_factory=list)
    views: list[tuple[bool, str]] = field(default_factory=list)  #: while it stands at each boundary

    def __post_init__(self) -> None:
        story = Story(self.case)

        def at(boundary: str) -> None:
            self.boundaries.append(boundary)
            self.views.append(story.view())

        self.answer = self.sent(story, at)
        self.settled = story.settled()
        self.answer_again = self.sent(story)
        self.settled_again = story.settled()

    def sent(self, story: Story, at: Callable[[str], None] = lambda _boundary: None) -> Any:
        return plain(json.loads(json.dumps(lives(self.url, story.request, at))))

    @property
    def chosen(self) -> list[int]:
        """At which of its boundaries a process is to die: all; or one, as often the last, with all committed
        and nothing answered, as any other."""
        numbers = range(len(self.boundaries))
        return scale([random.choice([random.choice(numbers[:-1]), numbers[-1]])], list(numbers))


@pytest.mark.prove
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_process_dies_at_any_boundary(real_db: Database, case: Case) -> None:
    course = Course(case, real_db.url)
    assert_is_protocols(course)
    for number in course.chosen:
        story, view = Story(case), course.views[number]
        boundary = dies(real_db.url, story.request, number)
        assert story.view() == view, f"died {boundary}"
        if begun := view[0]:
            assert story.settled() == course.settled, f"died {boundary}"
        answer = course.sent(story)
        assert answer == (course.answer_again if begun else course.answer), f"died {boundary}"
        assert story.settled() == (course.settled_again if begun else course.settled), f"died {boundary}"
    with snapshot():
        assert list(breaches()) == []


def assert_is_protocols(course: Course) -> None:
    """The second answer, and that the command was there in one moment: at a commit."""
    case, views = course.case, [seen for _changed, seen in course.views]
    for boundary, before, after in zip(course.boundaries[1:], views, views[1:], strict=False):
        assert before == after or boundary == "after the commit"
    if case.again == NOTHING_LEFT:
        assert course.answer_again == {}
    elif case.again == REPLAYED:
        code, told = course.answer
        assert course.answer_again == [code, told | {"replayed": True}]
    else:
        assert course.answer_again[1]["status"] == case.again


def test_no_command_is_forgotten() -> None:
    clock = {"lapse", "escalate", "expire"}  # nobody asks for these: a settle pass carries them out
    assert {case.command for case in CASES} == set(TABLES) - clock | {"settle", "operate", "abort"}
