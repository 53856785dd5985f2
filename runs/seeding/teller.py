"""The words that stories are told in. What a story does not say (owner, labels, values, times) is drawn from
one source of chance, so that a seed fixes it; what is asked goes to a hand, which answers.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any, Protocol

from runs.protocol import asks
from runs.protocol.evidence import Evidence
from runs.protocol.spec import Spec

from .people import Cast

WORK = {
    "mail": ("smtp/2", ["Send the invoice", "Send the reminder", "Tell support", "File the copy"]),
    "ledger": ("ledger/1", ["Reserve the amount", "Book the amount", "Close the entry"]),
    "shop": ("shop/4", ["Hold the goods", "Take the payment", "Order the parcel", "Tell the customer"]),
    "books": ("bank/1", ["Draw up the transfer", "Sign the transfer", "Send the transfer"]),
}
CONFIRMED = Evidence(kind="receiver_confirmed", text="It is in the receiver's log.")
REFUSED = Evidence(kind="receiver_refused", text="The receiver answered that it took nothing.")
WORKER_SAID_NO = Evidence(kind="worker_refused", text="The tool refused before it did anything.")
ENOUGH = 3600  #: seconds of a lease that shall still be live when somebody looks


class Hand(Protocol):
    """Carries out what is asked. `wait` and `recently` move its clock, where it has one of its own."""

    def do(self, who: str, job_id: str, ask: asks.Ask) -> dict[str, Any]:
        """The answer's fields, and its `status`."""

    def wait(self, by: timedelta) -> None: ...
    def recently(self) -> None: ...


@dataclass
class Teller:
    cast: Cast
    hand: Hand
    rng: Random
    new_id: Callable[[], str]
    events: int = 0
    prefix: str = "s"
    job: str = ""
    worker: str = ""
    token: str = ""
    spec: Spec = field(init=False)

    # -- what a story begins with ---------------------------------------------------------------------------
    def draw(
        self, queue: str | None = None, steps: int | None = None, marked: bool = False, parent: str = ""
    ) -> None:
        """A new job, in mind only."""
        self.job = self.new_id()
        self.worker, self.token = self.rng.choice(("seed-w1", "seed-w2", "seed-w3")), ""
        queue = queue or self.rng.choice(("mail", "mail", "mail", "ledger", "ledger", "shop"))
        tool, labels = WORK[queue]
        owner = self.rng.randint(1, 40)
        self.spec = Spec.model_validate(
            {
                "queue": queue,
                "owner": f"customer-{owner}",
                "dispatch": "marked" if marked else "unmarked",
                "parent": parent or None,
                "steps": [
                    {
                        "label": labels[n % len(labels)],
                        "tool": tool,
                        "target": f"c{owner}@example.test",
                        "params": {"amount": self.rng.randint(1, 90_000), "try": n},
                    }
                    for n in range(steps or self.rng.choice((1, 2, 2, 3)))
                ],
            }
        )

    def submit(self, **given: Any) -> str:
        self.draw(**given)
        self.ask("seed-app", asks.Submit(job_id=self.job, spec=self.spec))
        return self.job

    # -- the worker -----------------------------------------------------------------------------------------
    def claim(self, ttl_seconds: int = ENOUGH, worker: str = "") -> str:
        self.worker = worker or self.worker
        self.token = self.ask(self.worker, asks.Claim(worker=self.worker, ttl_seconds=ttl_seconds))["claim"]
        return self.token

    def send(self, ordinal: int) -> None:
        """Reserved, and marked right before it is sent where the job wants that."""
        attempt = f"{self.rng.getrandbits(64):016x}"
        self.ask(self.worker, asks.Reserve(claim=self.token, attempt=attempt))
        if self.spec.dispatch == "marked":
            self.ask(self.worker, asks.Dispatch(claim=self.token, ordinal=ordinal, attempt=attempt))

    def reserve(self) -> None:
        """Reserved only."""
        self.ask(self.worker, asks.Reserve(claim=self.token, attempt="once"))

    def report(self, ordinal: int, outcome: str = "ok", value: str | None = None, token: str = "") -> None:
        if value is None:
            value = "" if outcome == "unknown" else f"ref-{self.rng.getrandbits(40):010x}"
        evidence = WORKER_SAID_NO if outcome == "rejected" else None
        said = {"ordinal": ordinal, "outcome": outcome, "value": value, "evidence": evidence}
        self.event(self.worker, asks.Report, claim=token or self.token, **said)

    def steps(self, until: int | None = None) -> None:
        """Sends and reports step after step: all of them, or those before `until`."""
        for ordinal in range(len(self.spec.steps) if until is None else until):
            self.send(ordinal)
            self.report(ordinal)

    # -- people ---------------------------------------------------------------------------------------------
    def cancel(self, **given: Any) -> None:
        cause = self.rng.choice(("user_requested", "operator_requested", "task_deleted", "goal_met"))
        said = {"cause": cause, "asked_by": self.spec.owner, "spec_digest": self.spec.digest} | given
        self.event("seed-ops", asks.Cancel, **said)

    def reconcile(self, ordinal: int, outcome: str, who: str = "seed-sam", value: str = "") -> dict[str, Any]:
        evidence = CONFIRMED if outcome == "ok" else REFUSED
        return self.event(
            who, asks.Reconcile, ordinal=ordinal, outcome=outcome, value=value, evidence=evidence
        )

    def event(self, who: str, shape: type[asks.Event], **asked: Any) -> dict[str, Any]:
        """A command with an event id of its own."""
        self.events += 1
        return self.ask(who, shape(event_id=f"{self.prefix}.{self.events}", **asked))

    def ask(self, who: str, ask: asks.Ask) -> dict[str, Any]:
        return self.hand.do(who, self.job, ask)

    # -- time -----------------------------------------------------------------------------------------------
    def wait(self, **by: float) -> None:
        self.hand.wait(timedelta(**by))

    def recently(self) -> None:
        """What follows happened in the last minutes."""
        self.hand.recently()
