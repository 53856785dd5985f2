"""A receipt as the API shows it, and what can be said of it alone: its keys, its digest. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from .findings import UnreadableError, rendered

T = TypeVar("T")

NO_DIGEST = "0" * 64  #: `prev_digest` of a job's first receipt


@dataclass(frozen=True)
class Receipt:
    """PROTOCOL section 3; `body` and `detail` are the stored canonical texts."""

    seq: int | None
    event_id: str | None
    job_id: str | None
    kind: str
    status: str
    actor_type: str
    actor_name: str
    ordinal: int | None
    body_text: str
    detail_text: str
    at: datetime
    prev_digest: str
    digest: str

    def __str__(self) -> str:
        return f"receipt {self.seq or self.event_id} ({self.kind} {self.status})"

    def shown(self) -> dict[str, Any]:
        """What the API shows, without its digest. Raises UnreadableError where a text is no JSON object."""
        return {
            "seq": self.seq,
            "event_id": self.event_id,
            "job_id": self.job_id,
            "kind": self.kind,
            "status": self.status,
            "actor": {"type": self.actor_type, "name": self.actor_name},
            "ordinal": self.ordinal,
            "body": _object(self.body_text, f"{self} body"),
            "detail": _object(self.detail_text, f"{self} detail"),
            "at": rendered(self.at),
            "prev_digest": self.prev_digest,
        }


@dataclass(frozen=True)
class Read:
    """A receipt whose texts were read, for the replay."""

    receipt: Receipt
    body: Mapping[str, Any]
    detail: Mapping[str, Any]

    @property
    def seq(self) -> int:
        return self.receipt.seq or 0

    @property
    def at(self) -> datetime:
        return self.receipt.at

    @property
    def actor(self) -> str:
        return self.receipt.actor_name

    def asked(self, name: str, kind: type[T]) -> T:
        """What was asked under this name. Raises UnreadableError where it is missing or of another type."""
        return self._read("body", self.body, name, kind)

    def decided(self, name: str, kind: type[T]) -> T:
        return self._read("detail", self.detail, name, kind)

    def _read(self, part: str, values: Mapping[str, Any], name: str, kind: type[T]) -> T:
        value = values.get(name)
        if type(value) is not kind:
            raise UnreadableError(f"{self.receipt} {part}.{name}", f"a value of type {kind.__name__}", value)
        return value


def _object(text: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableError(where, "JSON", text) from None
    if not isinstance(value, dict):
        raise UnreadableError(where, "a JSON object", text)
    return value
