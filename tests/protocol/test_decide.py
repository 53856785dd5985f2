"""What every decision has in common, whatever its table."""

from runs.protocol.decide import KEPT, Row, decide
from runs.protocol.questions import otherwise
from runs.protocol.states import Job, Step, World
from runs.protocol.verbs import dispute, renew_lease

from .story import NOON


class Ask:
    ordinal = 0


WORLD = World(now=NOON, job=Job(n_steps=1, marked=False, steps={0: Step()}, seq=4))


def test_the_first_row_that_fits_decides() -> None:
    never = Row(lambda w, ask: False, "never", 200)
    assert (
        decide((never, Row(otherwise, "first", 200), Row(otherwise, "second", 200)), WORLD, Ask()).row.status
        == "first"
    )


def test_a_row_without_verbs_changes_nothing_but_the_number_of_its_receipt() -> None:
    unkept = decide((Row(otherwise, "no", 409),), WORLD, Ask())
    assert unkept.after is WORLD
    kept = decide((Row(otherwise, "no", 409, KEPT),), WORLD, Ask())
    assert kept.after == WORLD.becomes(seq=5)
    assert kept.detail == {}


def test_the_verbs_are_done_in_order_and_the_world_before_is_kept() -> None:
    made = decide((Row(otherwise, "yes", 200, KEPT, (dispute, renew_lease)),), WORLD, Ask())
    assert made.before is WORLD
    assert made.after.at.steps[0].disputed
    assert made.after.at.lease_expires_at == NOON
    assert not WORLD.at.steps[0].disputed


def test_a_changed_step_takes_its_receipt_s_number_as_version() -> None:
    made = decide((Row(otherwise, "yes", 200, KEPT, (dispute,)),), WORLD, Ask())
    assert made.after.at.steps[0].version == made.after.at.seq == 5
    assert made.detail == {"disputed": {"ordinal": 0, "is": True}}
