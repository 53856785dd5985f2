"""Who calls the API here: docs/permissions.md's people and worker, and an application that may do all.

Every answer is held against the OpenAPI document: a shape that is not declared fails the test that saw it.
"""

import hashlib
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from runs.models import Grant, Queue, Tenant, Token, User
from runs.permissions import Action

from .contract import check

NUMBERS = itertools.count(1)
BASE = "/api/v1"
CSRF = "a" * 32

#: name: (kind, owner_key, (effect, actions, scope, queue))
CAST: dict[str, tuple[str, str, list[tuple[str, str, str, str]]]] = {
    "sam": ("person", "", [("allow", "view", "tenant", ""), ("allow", "reconcile", "queue", "mail")]),
    "lena": ("person", "", [("allow", "view cancel revoke reconcile approve", "tenant", "")]),
    "omar": (
        "person",
        "",
        [("allow", "view", "tenant", ""), ("allow", "cancel block pause revoke", "queue", "mail")],
    ),
    "olga": ("person", "customer-1", [("allow", "view cancel", "self", "")]),
    "aud": (
        "person",
        "",
        [
            ("allow", "view export", "tenant", ""),
            ("deny", " ".join(action for action in Action if action not in ("view", "export")), "tenant", ""),
        ],
    ),
    "ada": ("person", "", [("allow", "manage_grants", "tenant", "")]),
    "w1": ("service", "", [("allow", "view submit execute", "queue", "mail")]),
    "app": ("service", "", [("allow", " ".join(Action), "tenant", "")]),
}


def spec(*steps: Any, **given: Any) -> dict[str, Any]:
    """A mail job of customer-1 with two steps, unless said otherwise."""
    return {"queue": "mail", "owner": "customer-1", "steps": list(steps) or ["Send it", "Tell them"]} | given


def people(tenant: Tenant) -> dict[str, User]:
    made = {}
    for name, (kind, owner_key, rights) in CAST.items():
        username = name if kind == "person" else f"{tenant.name}/{name}"
        user = User.objects.create(
            username=f"{username}-{tenant.pk}", name=name, tenant=tenant, kind=kind, owner_key=owner_key
        )
        for effect, actions, scope, queue in rights:
            for action in actions.split():
                Grant.objects.create(
                    tenant=tenant, user=user, action=action, effect=effect, scope=scope, queue=queue
                )
        made[name] = user
    return made


def token_for(user: User, actions: list[str] | None = None, days: int = 90, **given: Any) -> str:
    number = next(NUMBERS)
    prefix, secret = f"t{number:07d}", f"secret{number}"
    Token.objects.create(
        user=user,
        prefix=prefix,
        secret_hash=hashlib.sha256(secret.encode()).hexdigest(),
        actions=actions if actions is not None else [str(action) for action in Action],
        expires_at=timezone.now() + timedelta(days=days),
        **given,
    )
    return f"cb_{prefix}_{secret}"


def headers_of(user: User) -> dict[str, str]:
    """What a service account, or a person who has signed in, sends with each request."""
    if user.kind == "service":
        return {"Authorization": f"Bearer {token_for(user)}"}
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return {"Cookie": f"sessionid={session.session_key}; csrftoken={CSRF}", "X-CSRFToken": CSRF}


def tenant(name: str = "acme") -> Tenant:
    made = Tenant.objects.create(name=name)
    needs = {"mail": "1", "ledger": "1", "shop": "2 for did-not-happen", "books": "2"}
    for queue, needed in needs.items():
        Queue.objects.create(tenant=made, name=queue, reconcile_needs=needed)
    Queue.objects.create(tenant=made, name="vip", id_prefix="vip-")
    return made


@dataclass
class Reply:
    """An answer, checked. `reply["status"]` reads its JSON."""

    response: HttpResponse
    body: Any = field(init=False)

    def __post_init__(self) -> None:
        self.body = json.loads(self.response.content)

    @property
    def code(self) -> int:
        return self.response.status_code

    @property
    def told(self) -> tuple[int, str]:
        """(HTTP code, status of a protocol answer or code of a problem)."""
        word = self.body["status"]
        return self.code, word if isinstance(word, str) else self.body["code"]

    @property
    def fields(self) -> list[str]:
        return [error["field"] for error in self.body["errors"]]

    def __getitem__(self, key: str) -> Any:
        return self.body[key]


@dataclass
class Caller:
    """Somebody at the API's door; `headers` are sent with each request."""

    headers: dict[str, str] = field(default_factory=dict)
    client: Client = field(default_factory=Client)

    def get(self, path: str, **query: Any) -> Reply:
        return self.request("GET", path, query)

    def post(self, path: str, body: Any = None) -> Reply:
        return self.raw(path, json.dumps({} if body is None else body))

    def raw(self, path: str, body: str | bytes, content_type: str = "application/json") -> Reply:
        sent = self.client.generic("POST", BASE + path, body, content_type, headers=self.headers)
        return Reply(check("POST", sent))

    def request(self, method: str, path: str, query: Mapping[str, Any] | None = None) -> Reply:
        sent = self.client.generic(method, BASE + path, headers=self.headers, query_params=dict(query or {}))
        return Reply(check(method, sent))

    # -- the commands that many stories begin with ---------------------------------------------------------
    def submit(self, job_id: str, *steps: Any, **given: Any) -> Reply:
        return self.post("/jobs", {"job_id": job_id, "spec": spec(*steps, **given)})

    def ask(self, job_id: str, command: str, **body: Any) -> Reply:
        """A command with an event id of its own, unless one is given; not for those that have none."""
        return self.post(f"/jobs/{job_id}/{command}", {"event_id": f"e-{next(NUMBERS)}"} | body)

    def claim(self, job_id: str, **body: Any) -> str:
        reply = self.post(f"/jobs/{job_id}/claim", {"worker": "worker-1"} | body)
        assert reply.told == (200, "claimed")
        return str(reply["claim"])

    def job(self, job_id: str) -> Any:
        reply = self.get(f"/jobs/{job_id}")
        assert reply.code == 200
        return reply.body


def bearer(token: str) -> Caller:
    return Caller({"Authorization": f"Bearer {token}"})


def session(user: User) -> Caller:
    """A browser's session, its CSRF token sent along."""
    caller = Caller(client=Client(enforce_csrf_checks=True))
    caller.client.force_login(user, "django.contrib.auth.backends.ModelBackend")
    token = "a" * 32
    caller.client.cookies["csrftoken"] = token
    caller.headers["X-CSRFToken"] = token
    return caller
