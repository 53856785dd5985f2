"""Scripts are worth their name: fixed by the seed, and together they reach every answer of the protocol."""

import functools
from collections.abc import Iterable

import pytest

from .asks import BODY
from .commands import QUEUES, play
from .script import OVER_HTTP, WITH_CLOCK, script
from .world import World

pytestmark = pytest.mark.pure

#: PROTOCOL.md §4, every status of every command that needs no moving clock.
STATUSES = {
    "submit": "admitted conflict blocked_cancelled existing wrong_queue parent_missing parent_closed",
    "cancel": "spec_required wrong_queue tombstoned spec_conflict already_requested too_late requested",
    "claim": "not_admitted closed claim_held claimed",
    "heartbeat": "claim_lost closed ok",
    "reserve": "claim_lost inflight unknown finished cancelled paused disputed reserved",
    "dispatch": "claim_lost unmarked not_reserved dispatched already_dispatched cancelled",
    "report": "not_admitted claim_lost not_reserved fenced already_settled unresolved not_evidence settled",
    "release": "claim_lost unmarked not_reserved already_dispatched released",
    "checkpoint": "run inflight unknown children acknowledged",
    "revoke": "revoked no_claim",
    "pause": "too_late already_paused paused",
    "resume": "too_late not_paused resumed",
    "observe": "observed not_admitted not_reserved",
    "reconcile": "not_admitted not_reserved already_settled still_claimed not_evidence waiting proposed"
    " settled",
    "approve": "same_person settled already_decided superseded",
    "decline": "declined already_decided superseded",
    "close_dispute": "dispute_closed not_disputed",
}
WITH_TIME = {
    "submit": "sealed",
    "seal": "sealed already_sealed",
    "lapse": "lapsed",
    "escalate": "escalated",
    "expire": "expired",
    "approve": "expired",
}


@functools.cache
def reached(clock: bool, /) -> set[tuple[str, str | None]]:
    return all_answers(WITH_CLOCK if clock else OVER_HTTP, range(400))


def all_answers(weights: dict[str, int], seeds: Iterable[int]) -> set[tuple[str, str | None]]:
    seen: set[tuple[str, str | None]] = set()
    for seed in seeds:
        world = World(QUEUES)
        for command in script(seed, 80, weights):
            if (answer := play(command, world)) is not None:
                seen.add((command.kind, answer.status))
                seen |= {(command.kind, "replayed")} if answer.replayed else set()
        seen |= {(receipt.kind, receipt.status) for job in world.jobs.values() for receipt in job.receipts}
    return seen


def wanted(statuses: dict[str, str]) -> set[tuple[str, str]]:
    return {(kind, status) for kind, words in statuses.items() for status in words.split()}


@pytest.mark.parametrize(("clock", "statuses"), [(False, STATUSES), (True, WITH_TIME)])
def test_scripts_reach_every_status(clock: bool, statuses: dict[str, str]) -> None:
    assert wanted(statuses) - reached(clock) == set()


def test_every_command_with_an_event_id_is_replayed_and_clashes() -> None:
    seen = reached(True)
    assert {kind for kind, what in seen if what == "event_conflict"} == set(BODY)
    assert {kind for kind, what in seen if what == "replayed"} == {*BODY, "reserve", "dispatch"}


def test_a_script_is_fixed_by_its_seed() -> None:
    assert script(7) == script(7)
    assert script(7) != script(8)


def test_a_script_without_the_clock_needs_no_time() -> None:
    world = World(QUEUES)
    commands = script(3, 80)
    assert {command.fields.get("ttl_seconds", 3600) for command in commands} == {3600}
    for command in commands:
        play(command, world)
    assert world.now == 0
