"""The tables of docs/protocol.md, section 4, laid beside the code's: the same answers in the same order.

The page says once, in prose, what an unknown job gets; that is worked out here for each command. What it
tells in sentences instead of a table is written out below.
"""

import pytest

from runs.protocol import asks
from runs.protocol.decide import Row, Table
from runs.protocol.tables import TABLES

from .page import PAGE, Answer, section, table

TABLED = ("submit", "cancel", "claim", "reserve", "dispatch", "report", "reconcile")
#: One condition of the page that is two rows in the code: "job unknown or tombstone".
TWO_FOR_ONE = {("report", "job unknown or tombstone")}
#: Commands whose own rows say what an unknown job gets.
MAKES_JOBS = ("submit", "cancel", "seal")
CLOCK = ("lapse", "escalate", "expire", "restored")
KINDS: dict[str, type[asks.Ask]] = {
    ask.kind: ask
    for ask in vars(asks).values()
    if isinstance(ask, type) and issubclass(ask, asks.Ask) and "kind" in vars(ask)
}


def kept(*answers: tuple[str, int]) -> list[Answer]:
    return [Answer(status, code, kept=True) for status, code in answers]


def unkept(*answers: tuple[str, int]) -> list[Answer]:
    return [Answer(status, code, kept=False) for status, code in answers]


#: What the page tells in sentences: each word stands there in this order.
TOLD = {
    "heartbeat": unkept(("claim_lost", 409), ("closed", 200), ("ok", 200)),
    "release": kept(
        ("claim_lost", 409),
        ("unmarked", 409),
        ("not_reserved", 409),
        ("already_dispatched", 409),
        ("released", 200),
    ),
    "pause": kept(("too_late", 409), ("already_paused", 200), ("paused", 200)),
    "resume": kept(("too_late", 409), ("not_paused", 200), ("resumed", 200)),
    "approve": kept(("already_decided", 409), ("expired", 409), ("superseded", 409), ("settled", 200)),
    "decline": kept(("already_decided", 409), ("expired", 409), ("superseded", 409), ("declined", 200)),
    "observe": kept(("not_admitted", 409), ("not_reserved", 409), ("observed", 200)),
    "close_dispute": kept(("not_disputed", 409), ("dispute_closed", 200)),
    "revoke": kept(("no_claim", 409), ("revoked", 200)),
    "seal": kept(("already_sealed", 200), ("sealed", 200)),
    "checkpoint": [
        *unkept(("run", 200), ("inflight", 200), ("unknown", 200)),
        *unkept(("acknowledged", 200), ("children", 200)),  # confirmed before: with no child left, by I5
        *kept(("acknowledged", 200)),
    ],
}

AFTER_RECONCILE = ("approve", "decline", "close_dispute")  #: told under its heading


def in_code(rows: Table) -> list[Answer]:
    return [Answer(row.status, row.code, row.kept, row.replayed) for row in rows]


def for_an_unknown_job(command: str) -> list[Answer]:
    """`sealed` 409 (a receipt if it has an event id), else as in its table, else 404."""
    if command in (*MAKES_JOBS, *CLOCK):
        return []
    sealed = Answer("sealed", 409, kept=issubclass(KINDS[command], asks.Event))
    in_its_table = any("job unknown" in when for when, _ in table(command)) if command in TABLED else False
    return [sealed] if in_its_table else [sealed, Answer("not_found", 404, kept=False)]


def on_the_page(command: str) -> list[Answer]:
    found = for_an_unknown_job(command)
    for when, answers in table(command):
        found += answers * 2 if (command, when) in TWO_FOR_ONE else answers
    return found


@pytest.mark.parametrize("command", TABLED)
def test_the_code_decides_in_the_order_of_the_page(command: str) -> None:
    assert [str(row) for row in in_code(TABLES[command])] == [str(row) for row in on_the_page(command)]


@pytest.mark.parametrize("command", TOLD)
def test_the_code_decides_as_the_sentences_say(command: str) -> None:
    expected = for_an_unknown_job(command) + TOLD[command]
    assert [str(row) for row in in_code(TABLES[command])] == [str(row) for row in expected]


@pytest.mark.parametrize("command", TOLD)
def test_every_word_of_those_sentences_is_on_the_page(command: str) -> None:
    text = PAGE if command == "seal" else section("reconcile" if command in AFTER_RECONCILE else command)
    assert [answer.status for answer in TOLD[command] if f"`{answer.status}`" not in text] == []


def test_no_command_is_forgotten() -> None:
    assert {*TABLED, *TOLD, *CLOCK} == set(TABLES)


@pytest.mark.parametrize("command", TABLES)
def test_the_last_row_fits_always_and_a_status_has_one_code(command: str) -> None:
    assert TABLES[command][-1].when.__name__ == "otherwise"
    codes = {(row.status, row.code) for row in TABLES[command]}
    assert len({status for status, _ in codes}) == len(codes)


def swapped(rows: tuple[Row, ...], at: int) -> tuple[Row, ...]:
    return (*rows[:at], rows[at + 1], rows[at], *rows[at + 2 :])


@pytest.mark.parametrize("command", TABLED)
def test_a_row_that_is_lost_or_out_of_order_is_noticed(command: str) -> None:
    """This comparison is as sharp as it looks: but for two neighbours that answer alike."""
    rows, expected = tuple(TABLES[command]), on_the_page(command)
    for at in range(len(rows)):
        assert in_code(rows[:at] + rows[at + 1 :]) != expected
    for at in range(len(rows) - 1):
        assert (in_code(swapped(rows, at)) != expected) or in_code(rows)[at] == in_code(rows)[at + 1]
