"""Plays a script on a server and on the model at once, and raises at the first difference, whole story told.

A *door* is a callable `(kind, job_id, body, who) -> (http status, json)`. Beside the commands it is asked for
the reads `job`, `receipts` (body `{"after": seq}`) and `receipt` (body `{"event_id": …}`), and, in scripts
with a clock, for `wait` (`{"seconds": …}`) and `settle`. over_http.py has one for HTTP; what may not go
through it (approve and decline are no service's) gets a door of its own in `doors`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import cycle
from typing import Any

from . import compare
from .asks import BODY, canonical, sha256
from .commands import CLOCK, ClaimOf, Command, Forged, ProposalOf, play
from .script import script
from .state import Answer
from .world import World

Door = Callable[[str, str | None, dict[str, Any], str], tuple[int, Any]]


class Difference(AssertionError):
    """The server and the model disagree; the message ends with every command that led there."""


def run(door: Door, world: World, *, seed: int, length: int = 60, **more: Any) -> None:
    """One script from beginning to end. `more`: `weights`, `run` of the script; `doors`, `reader`… of Driver.

    `world` is as the tenant is: its queues (commands.QUEUES), what is sealed, no job of this script yet.
    """
    writing = {name: more.pop(name) for name in ("weights", "run") if name in more}
    title = f"script({seed}, {length}, **{writing})"
    driver = Driver(door, world, title=title, **more)
    driver.play_all(script(seed, length, **writing))


class Driver:
    """Binds names to real tokens and ids, asks both, compares. `reader` is who reads, after each `reads`th
    command the job that it was about, and all at the end."""

    def __init__(
        self,
        door: Door,
        world: World,
        *,
        doors: dict[str, Door] | None = None,
        reader: str = "p1",
        reads: int = 1,
        no_proposal: Any = 999_999_999,
        title: str = "",
    ):
        self.door, self.doors, self.world, self.reader = door, doors or {}, world, reader
        self.no_proposal, self.title = no_proposal, title
        self.turns = cycle([False] * (reads - 1) + [True])  # whether to read now
        self.tokens: dict[str, list[str]] = {}
        self.proposals: dict[str, list[Any]] = {}
        self.first: dict[str, Any] = {}  # by event id, the JSON of the answer that kept a receipt
        self.story: list[str] = []

    def play_all(self, commands: Iterable[Command]) -> None:
        for command in commands:
            self.play(command)
        self.read_all()

    def play(self, command: Command) -> None:
        body = self.bind(command)
        self.story.append(f"{command.who}: {command.kind} {command.job_id or ''} {body}")
        http, told = self.ask(command.kind, command.job_id, body, command.who)
        expected = play(command, self.world)
        self.story.append(f"    -> {http} {brief(told)}")
        if command.kind in CLOCK:
            return
        assert expected is not None
        self.agree(
            "answer", compare.answer(expected, http, told) or self.beyond_words(command, expected, told)
        )
        if next(self.turns) and command.job_id is not None:
            self.read(command.job_id)

    def ask(self, kind: str, job_id: str | None, body: dict[str, Any], who: str) -> tuple[int, Any]:
        return self.doors.get(kind, self.door)(kind, job_id, body, who)

    def agree(self, where: str, differences: list[str]) -> None:
        if differences:
            said = "\n  ".join(differences)
            raise Difference(f"{self.title}: {where} differs\n  {said}\n\n" + "\n".join(self.story))

    # Names and what they stand for

    def bind(self, command: Command) -> dict[str, Any]:
        return {key: self.real(name) for key, name in command.fields.items()}

    def real(self, name: Any) -> Any:
        match name:
            case ClaimOf(job_id, nth):
                issued = self.tokens.get(job_id, [])
                return issued[nth] if nth < len(issued) else self.real(Forged(nth + 1))
            case Forged(fence):
                return f"{fence}-{'0' * 31}f"
            case ProposalOf(job_id, nth):
                made = self.proposals.get(job_id, [])
                return made[nth] if nth < len(made) else self.no_proposal
        return name

    # What an answer holds beside its words

    def beyond_words(self, command: Command, expected: Answer, told: Any) -> list[str]:
        if expected.status is None or expected.http == 403:
            return []
        job_id = command.job_id or ""
        if expected.status == "claimed":
            self.tokens.setdefault(job_id, []).append(told.get("claim"))
            return compare.token_differs(told.get("claim"), expected.fields["fence"])
        event_id = command.fields.get("event_id") if command.kind in BODY else None
        if event_id is not None and expected.replayed:
            return compare.unlike("the replay", told, self.first[event_id] | {"replayed": True})
        if event_id is not None and expected.receipt_kept:
            self.first[event_id] = told
        if expected.status == "proposed":
            self.proposals.setdefault(job_id, []).append(told.get("proposal"))
        found = self.key_differs(job_id, told) if expected.status == "reserved" else []
        return found + compare.receipt_differs(self.world, command, expected, told.get("receipt", "missing"))

    def key_differs(self, job_id: str, told: Any) -> list[str]:
        """`idempotency_key`: the same for ever, from [tenant, job id, ordinal] alone."""
        _, job = self.ask("job", job_id, {}, self.reader)
        key = "cb-" + sha256(canonical([job["tenant"], job_id, told["ordinal"]]))[:32]
        return compare.unlike("idempotency_key", told.get("idempotency_key"), key)

    # Reads

    def read(self, job_id: str) -> None:
        http, told = self.ask("job", job_id, {}, self.reader)
        self.agree(f"GET {job_id}", compare.read_differs(self.world, job_id, http, told))

    def read_all(self) -> None:
        """Every job, every receipt, every event id: the end of a script."""
        secrets = [token.split("-")[1] for issued in self.tokens.values() for token in issued]
        for job_id in self.world.jobs:
            self.read(job_id)
            receipts = self.receipts(job_id)
            rows = [compare.row(receipt) for receipt in receipts]
            self.agree(f"receipts of {job_id}", compare.unlike("rows", rows, self.world.receipts(job_id)))
            self.agree(f"receipts of {job_id}", compare.chain(receipts))
            leaked = [secret for secret in secrets if secret in canonical(receipts)]
            self.agree(f"receipts of {job_id}", compare.unlike("tokens told", leaked, []))
        for event_id, told in self.first.items():
            found = self.ask("receipt", None, {"event_id": event_id}, self.reader)
            self.agree(f"receipt {event_id}", compare.unlike("receipt", found, (200, told["receipt"])))

    def receipts(self, job_id: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        after: int | None = 0
        while after is not None:
            _, page = self.ask("receipts", job_id, {"after": after}, self.reader)
            found += page["receipts"]
            after = page["next_after"]
        return found


def brief(told: Any) -> Any:
    """An answer without its receipt: what a reader of the story wants."""
    return (
        {name: value for name, value in told.items() if name != "receipt"} if isinstance(told, dict) else told
    )
