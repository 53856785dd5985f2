"""A tenant in which two commands can meet, and what can be seen of it afterwards: no times and no digests, so
that two runs of the same story look alike.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest

from runs import ledger
from runs.commands import Answer, do
from runs.errors import CancelboardError
from runs.models import Delivery, Grant, Job, Queue, Receipt, Tenant, User
from runs.permissions import Action, Actor
from runs.protocol import asks
from runs.protocol.spec import Spec
from runs.queries.shape import shapes

NUMBERS = count(1)
EVERYTHING = [action for action in Action if action not in (Action.EXPORT, Action.MANAGE_GRANTS)]
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
NEEDS = {"mail": "1", "books": "2"}  #: the queues, and how many people a reconciliation takes
AGO = timedelta(minutes=10)  #: when a story was told
CONFIRMED = {"kind": "receiver_confirmed", "text": "In the receiver's log."}
REFUSED = {"kind": "receiver_refused", "text": "The receiver answered 550."}
#: What differs between two runs of the same story without meaning anything.
MEANINGLESS = {
    *("receipt", "claim", "lease_expires_at", "tenant", "head_digest", "at", "created_at", "updated_at"),
    *("dispatched_at", "grace_until", "paused_at", "heard_at", "idempotency_key", "proposal"),
    "operation_id",
}


def spec(*steps: str, **given: Any) -> dict[str, Any]:
    """Two steps of a mail job, unless said otherwise."""
    return {"queue": "mail", "steps": list(steps) or ["Send it", "Tell them"]} | given


def digest(*steps: str, **given: Any) -> str:
    return Spec.model_validate(spec(*steps, **given)).digest


def shape_of(command: str) -> type[asks.Ask]:
    """`close_dispute` asks in the shape of `CloseDispute`."""
    return getattr(asks, command.title().replace("_", ""))  # type: ignore[no-any-return]


@dataclass
class Stage:
    """Where a story is told: on the product (Scene) or on the model (twin.py). A story names claims and
    proposals by their turn; what they are called on this stage is looked up."""

    numbers: Any = field(default_factory=lambda: count(1), kw_only=True)

    def filled(self, command: str, job_id: str | None, body: dict[str, Any]) -> dict[str, Any]:
        """The whole body of a command; its event id, where it has one and none is given, is of its own."""
        if "event_id" in shape_of(command).model_fields:
            body = {"event_id": f"e{next(self.numbers)}"} | body
        if command == "submit":
            body = {"job_id": job_id, "spec": spec()} | body
        if command == "claim":
            body = {"worker": "worker-1"} | body
        if isinstance(body.get("claim"), int):
            body = body | {"claim": self.claim(job_id or "", body["claim"])}
        if isinstance(body.get("proposal"), int):
            body = body | {"proposal": self.proposal(body["proposal"])}
        return body

    def claim(self, job_id: str, nth: int) -> Any:
        """The nth claim of the job, from 1."""
        raise NotImplementedError

    def proposal(self, nth: int) -> Any:
        """The nth proposal, from 0."""
        raise NotImplementedError


@dataclass
class Scene(Stage):
    """`tokens` and `proposals` hold what earlier commands gave out, by job."""

    tenant: Tenant = field(init=False)
    actors: dict[str, Actor] = field(init=False)
    tokens: dict[str, list[str]] = field(default_factory=dict)
    proposals: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tenant = Tenant.objects.create(name=f"t{next(NUMBERS)}")
        for queue, needs in NEEDS.items():
            Queue.objects.create(tenant=self.tenant, name=queue, reconcile_needs=needs)
        self.actors = {
            name: self._person(name, kind)
            for name, kind in {"lena": "person", "sam": "person", "w1": "service"}.items()
        }

    def _person(self, name: str, kind: str) -> Actor:
        username = f"{self.tenant.name}/{name}"
        user = User.objects.create(username=username, name=name, tenant=self.tenant, kind=kind)
        Grant.objects.bulk_create(
            Grant(tenant=self.tenant, user=user, action=action, scope="tenant", not_before=LONG_AGO)
            for action in EVERYTHING
        )
        return Actor.of_user(user)

    def claim(self, job_id: str, nth: int) -> str:
        return self.tokens[job_id][nth - 1]

    def proposal(self, nth: int) -> str:
        return self.proposals[nth]

    def do(self, command: str, job_id: str | None = "j", who: str = "w1", **body: Any) -> Answer:
        ask = shape_of(command).model_validate(self.filled(command, job_id, body))
        answer = do(self.actors[who], job_id, ask)
        if "claim" in answer.fields:
            self.tokens.setdefault(job_id or "", []).append(answer.fields["claim"])
        if "proposal" in answer.fields:
            self.proposals.append(answer.fields["proposal"])
        return answer

    def told(self, command: str, job_id: str | None = "j", who: str = "w1", **body: Any) -> str:
        """The answer in words that two runs can share, also when it is an error that a door would tell."""
        try:
            answer = self.do(command, job_id, who, **body)
        except CancelboardError as error:
            return f"{error.http} {error.code}"
        return f"{answer.code} {json.dumps(plain(answer.json()), sort_keys=True)}"

    def held(self, action: str) -> int:
        """Which grant gives w1 this action."""
        user = self.actors["w1"].user_id
        return Grant.objects.get(tenant=self.tenant, action=action, user=user).pk

    def seen(self) -> str:
        """All that the tenant now is: its jobs, their receipts in order, the receipts without a job."""
        jobs = list(Job.objects.filter(tenant=self.tenant).select_related("tenant").order_by("job_id"))
        receipts = Receipt.objects.filter(tenant=self.tenant).order_by("job_ref", "job", "seq", "event_id")
        told = [(r.job_ref, r.seq, r.kind, r.status, r.event_id, r.ordinal, r.actor_name) for r in receipts]
        again = Delivery.objects.filter(tenant=self.tenant).order_by("event_id")
        counted = list(again.values_list("event_id", "replays", "conflicts"))
        whole = {"jobs": plain(shapes(jobs, ledger.clock())), "receipts": told, "deliveries": counted}
        return json.dumps(whole, sort_keys=True, indent=1)


def told(story: Callable[[Scene], Any], ago: timedelta = AGO) -> Scene:
    """A scene in which the story was told a while ago: a lease of less has lapsed since."""
    real = ledger.clock
    with pytest.MonkeyPatch.context() as then:
        then.setattr(ledger, "clock", lambda read=None: real(read) - ago)
        scene = Scene()
        story(scene)
    return scene


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in MEANINGLESS}
    return [plain(item) for item in value] if isinstance(value, list) else value
