"""The HTTP contract as values: each call as a `Send`, each reply as an `Answer` or an error (docs/http.md).

Not a transport: nothing here opens a connection, waits or tries again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from runs.worker.errors import NoAnswer, Problem

#: Replies behind which the request may or may not have been carried out, so that it is sent again.
TRY_AGAIN = frozenset({408, 425, 429})


class Effect:
    """Something a plan wants done (plans.py)."""


@dataclass(frozen=True, slots=True)
class Send(Effect):
    """One request. Frozen, so that sending it again sends the same words."""

    method: str
    path: str
    body: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """`status` is the protocol's word, "" for a read. `body` is the whole answer."""

    code: int
    body: Mapping[str, Any]

    @property
    def status(self) -> str:
        return str(self.body.get("status", ""))

    @property
    def replayed(self) -> bool:
        return bool(self.body.get("replayed", False))

    @property
    def receipt(self) -> Mapping[str, Any] | None:
        return self.body.get("receipt")

    def __getitem__(self, field: str) -> Any:
        return self.body[field]

    def get(self, field: str, default: Any = None) -> Any:
        return self.body.get(field, default)


def new_event_id() -> str:
    """Chosen once for a command and kept through every retry of it (docs/protocol.md, section 3)."""
    return uuid4().hex


def submit(job_id: str, spec: Mapping[str, object]) -> Send:
    return Send("POST", "/api/v1/jobs", {"job_id": job_id, "spec": spec})


def job(job_id: str) -> Send:
    return Send("GET", _path(job_id))


def command(job_id: str, name: str, **body: object) -> Send:
    """Any command on a job; fields that are None are left to the server's defaults."""
    given = {field: value for field, value in body.items() if value is not None}
    return Send("POST", f"{_path(job_id)}/{name}", given)


def _path(job_id: str) -> str:
    return f"/api/v1/jobs/{quote(job_id, safe=':@')}"


def read(code: int, headers: Mapping[str, str], content: bytes) -> Answer:
    """What a reply means. Raises NoAnswer where the same request is to be sent again, Problem for a refusal.

    A protocol answer has a word as its `status`, a problem the number: that tells the two 422s apart.
    """
    if code >= 500 or code in TRY_AGAIN:
        raise NoAnswer(f"HTTP {code}", _seconds(headers.get("Retry-After")))
    body = _object(content)
    if code < 300 and body is None:
        raise NoAnswer(f"HTTP {code} with a body that is no JSON object")
    if body is not None and (code < 300 or isinstance(body.get("status"), str)):
        return Answer(code, body)
    said = body or {}
    raise Problem(code, str(said.get("code", "")), str(said.get("detail", "")), said.get("errors") or ())


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        body = json.loads(content)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _seconds(header: str | None) -> float | None:
    return float(header) if header and header.isascii() and header.isdigit() else None
