"""What the real commands write is clean, whatever they were asked."""

from runs.audit import breaches, snapshot
from runs.audit.effects import EFFECTS
from runs.audit.replay import BEGINNINGS
from runs.models import Receipt
from runs.protocol.tables import TABLES

from . import stories
from .cast import Story


def found() -> list[str]:
    with snapshot():
        return [str(breach) for breach in breaches()]


def test_an_empty_database_is_clean(story: Story) -> None:
    assert found() == []


def test_every_story_is_clean(story: Story) -> None:
    stories.tell_all(story)
    assert found() == []


def test_every_receipt_that_the_protocol_can_leave_is_known() -> None:
    """A new row in a table needs its effect here. Without a job there is nothing to replay."""
    kept = {(kind, row.status) for kind, table in TABLES.items() for row in table if row.kept}
    without_job = {pair for pair in kept if pair[0] == "seal" or pair[1] in ("sealed", "wrong_queue")}
    assert kept - without_job == {*EFFECTS, *BEGINNINGS}


def test_the_stories_leave_every_change_that_a_receipt_can_tell(story: Story) -> None:
    """Else the test above would promise more than it saw. What is missing here changes nothing: refusals."""
    stories.tell_all(story)
    kept = {(kind, row.status) for kind, table in TABLES.items() for row in table if row.kept}
    changing = {
        (kind, row.status) for kind, table in TABLES.items() for row in table if row.kept and row.then
    }
    told = set(Receipt.objects.values_list("kind", "status"))
    assert told <= kept
    assert changing - told == set()
