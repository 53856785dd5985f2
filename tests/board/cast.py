"""The demo's people before a browser, and the jobs they look at: told by the real commands."""

import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.test import Client

from runs.commands import Answer, do
from runs.demo.people import cast
from runs.models import Job, Queue, Tenant, User
from runs.permissions import Actor
from runs.protocol import asks
from runs.protocol.evidence import Evidence
from runs.protocol.spec import Spec

from .pages import Page, page

BACKEND = "django.contrib.auth.backends.ModelBackend"
CONFIRMED = Evidence(kind="receiver_confirmed", text="In the receiver's log.")
REFUSED = Evidence(kind="receiver_refused", text="The receiver answered 550.")


def spec(*steps: Any, **given: Any) -> Spec:
    """Three mails to customer-1, unless said otherwise."""
    labels = list(steps) or ["Send welcome mail", "Send bill", "Send farewell"]
    return Spec.model_validate({"queue": "mail", "owner": "customer-1", "steps": labels} | given)


def shape_of(command: str) -> type[asks.Ask]:
    return getattr(asks, command.title().replace("_", ""))  # type: ignore[no-any-return]


@dataclass
class Stage:
    """`stage("w1", "order-1", "reserve")` does it now; its newest token is the claim. `system` may do all."""

    numbers: Any = field(default_factory=lambda: itertools.count(1))
    tokens: dict[str, str] = field(default_factory=dict)
    specs: dict[str, Spec] = field(default_factory=dict)
    ago: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        self.people = cast()
        self.tenant: Tenant = self.people["sam"].tenant
        Queue.objects.create(tenant=self.tenant, name="books", reconcile_needs="2")
        Queue.objects.create(tenant=self.tenant, name="shop", reconcile_needs="2 for did-not-happen")
        self.actors = {name: Actor.of_user(user) for name, user in self.people.items()}
        self.actors["system"] = Actor.system(self.tenant)

    def clock(self, _read: datetime | None = None) -> datetime:
        """What a command takes for the time; a page takes the real one."""
        return datetime.now(UTC) - self.ago

    def __call__(self, who: str, job: str, command: str, **asked: Any) -> Answer:
        given: dict[str, Any] = {"claim": self.tokens.get(job, ""), "event_id": f"e-{next(self.numbers)}"}
        shape = shape_of(command)
        fields = {name: value for name, value in given.items() if name in shape.model_fields} | asked
        answer = do(self.actors[who], job, shape(**fields))
        if answer.status == "claimed":
            self.tokens[job] = answer.fields["claim"]
        return answer

    # -- the beginnings of stories -------------------------------------------------------------------------
    def submit(self, job: str, *steps: Any, **given: Any) -> str:
        self.specs[job] = spec(*steps, **given)
        assert self("system", job, "submit", job_id=job, spec=self.specs[job]).status == "admitted"
        return job

    def claim(self, job: str, worker: str = "worker-1") -> str:
        assert self("system", job, "claim", worker=worker).status == "claimed"
        return self.tokens[job]

    def begin(self, job: str, *steps: Any, **given: Any) -> str:
        """Submitted, claimed, and its first step is out."""
        self.submit(job, *steps, **given)
        self.claim(job)
        return self.reserve(job)

    def reserve(self, job: str) -> str:
        assert self("system", job, "reserve", attempt=f"a-{next(self.numbers)}").status == "reserved"
        return job

    def report(self, job: str, ordinal: int, outcome: str, **asked: Any) -> Answer:
        if outcome == "rejected":
            asked.setdefault("evidence", Evidence(kind="worker_refused", text="no"))
        return self("system", job, "report", ordinal=ordinal, outcome=outcome, **asked)

    def cancel(self, job: str, who: str = "lena", **asked: Any) -> Answer:
        """Whoever asks, for the reason that most people have."""
        asked = {"spec_digest": self.specs[job].digest, "cause": "user_requested"} | asked
        return self(who, job, "cancel", **asked)

    def unknown(self, job: str, *steps: Any, **given: Any) -> str:
        """A cancel is requested, and nobody knows what became of the first step."""
        self.begin(job, *steps, **given)
        self.cancel(job, "system")
        self.report(job, 0, "unknown")
        return job

    def row(self, job: str) -> Job:
        return Job.objects.get(tenant=self.tenant, job_id=job)

    def browser(self, name: str) -> "Browser":
        return Browser(self.people[name])


@dataclass
class Browser:
    """Somebody who is signed in. Cookies are kept, redirects are not followed, CSRF is as in `Client`."""

    user: User | None = None
    client: Client = field(default_factory=Client)

    def __post_init__(self) -> None:
        if self.user is not None:
            self.client.force_login(self.user, BACKEND)

    def get(self, path: str, *, fragment: bool = False, **query: Any) -> Page:
        joined = f"{path}{'&' if '?' in path else '?'}{urlencode(query)}" if query else path
        return page(self.client.get(joined, headers=_headers(fragment)))

    def post(self, path: str, fields: dict[str, Any], *, fragment: bool = False) -> Page:
        return page(self.client.post(path, fields, headers=_headers(fragment)))

    def fill(self, path: str, **fields: Any) -> dict[str, Any]:
        """What the form at this address would send, with these fields filled in."""
        return self.get(path).fields | fields

    def send(self, path: str, *, fragment: bool = False, **fields: Any) -> Page:
        return self.post(path, self.fill(path, **fields), fragment=fragment)


def _headers(fragment: bool) -> dict[str, str]:
    return {"HX-Request": "true"} if fragment else {}
