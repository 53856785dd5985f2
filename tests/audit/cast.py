"""The people of these stories, and the clock they live by."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from runs.commands import Answer, do
from runs.models import Grant, Queue, Tenant, User
from runs.permissions import Action, Actor
from runs.protocol import asks
from runs.protocol.evidence import Evidence
from runs.protocol.spec import Spec

EVERYTHING = [action for action in Action if action not in (Action.EXPORT, Action.MANAGE_GRANTS)]
PEOPLE = dict.fromkeys(("lena", "sam", "p1", "p2"), "person") | dict.fromkeys(("w1", "w2", "app"), "service")
QUEUES = {"mail": "1", "books": "2"}
CONFIRMED = Evidence(kind="receiver_confirmed", text="In the receiver's log.")
REFUSED = Evidence(kind="receiver_refused", text="The receiver answered 550.")


def spec(*steps: str, **given: Any) -> Spec:
    """Two steps of a mail job, unless said otherwise."""
    labels = list(steps) or ["Send it", "Tell them"]
    whole = {"queue": "mail", "owner": "customer-1", "steps": [{"label": label} for label in labels]}
    return Spec.model_validate(whole | given)


def shape_of(command: str) -> type[asks.Ask]:
    """`close_dispute` asks in the shape of `CloseDispute`."""
    return getattr(asks, command.title().replace("_", ""))  # type: ignore[no-any-return]


@dataclass
class Story:
    """A tenant in which everybody may do everything; who does what is for the test to say. Time stands still
    until `later` moves it."""

    name: str = "acme"
    queues: dict[str, str] = field(default_factory=lambda: QUEUES)
    now: datetime = datetime(2026, 11, 29, 12, tzinfo=UTC)
    tokens: dict[str, str] = field(default_factory=dict)
    numbers: Any = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.tenant = Tenant.objects.create(name=self.name)
        for queue, needs in self.queues.items():
            Queue.objects.create(tenant=self.tenant, name=queue, reconcile_needs=needs)
        self.actors = {name: self.person(name, kind) for name, kind in PEOPLE.items()}
        self.actors["system"] = Actor.system(self.tenant)
        self.actors["verifier"] = Actor.verifier(self.tenant, "smtp")

    def person(self, name: str, kind: str) -> Actor:
        user = User.objects.create(username=f"{self.name}/{name}", name=name, tenant=self.tenant, kind=kind)
        for action in EVERYTHING:
            Grant.objects.create(
                tenant=self.tenant, user=user, action=action, scope="tenant", not_before=self.now
            )
        return Actor.of_user(user)

    def clock(self, _read: datetime | None = None) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def later(self, **by: float) -> None:
        self.now += timedelta(**by)

    def __call__(self, who: str, job: str | None, command: str, **asked: Any) -> Answer:
        """`story("w1", "order-1", "report", ordinal=0, outcome="ok")`; the newest token is its claim."""
        shape = shape_of(command)
        given: dict[str, Any] = {"claim": self.tokens.get(job or ""), "event_id": f"e-{next(self.numbers)}"}
        fields = {name: value for name, value in given.items() if name in shape.model_fields} | asked
        return self.ask(who, job, shape(**fields))

    def ask(self, who: str, job: str | None, ask: asks.Ask) -> Answer:
        answer = do(self.actors[who], job, ask)
        if answer.status == "claimed":
            self.tokens[job or ""] = answer.fields["claim"]
        return answer

    def submit(self, job: str, *steps: str, **given: Any) -> Answer:
        return self("app", job, "submit", job_id=job, spec=spec(*steps, **given))

    def claim(self, job: str, who: str = "w1", ttl_seconds: int = 90) -> str:
        """Takes the claim of a new worker, and gives its token."""
        assert self(who, job, "claim", worker=who, ttl_seconds=ttl_seconds).status == "claimed"
        return self.tokens[job]

    def begin(self, job: str, *steps: str, who: str = "w1", **given: Any) -> str:
        """Submitted, claimed, and its first step is out."""
        self.submit(job, *steps, **given)
        token = self.claim(job, who)
        assert self(who, job, "reserve", attempt="a1").status == "reserved"
        return token

    def report(self, job: str, ordinal: int, outcome: str, who: str = "w1", **asked: Any) -> Answer:
        if outcome == "rejected":
            asked.setdefault("evidence", Evidence(kind="worker_refused", text="no"))
        return self(who, job, "report", ordinal=ordinal, outcome=outcome, **asked)
