"""Protocol answers: what each command may answer, taken from its own table, and how an answer is sent."""

from typing import Any, Literal

from django.http import JsonResponse
from pydantic import BaseModel, ConfigDict, Field, create_model

from runs.commands import Answer
from runs.protocol.asks import Ask, Event
from runs.protocol.states import Control, Result
from runs.protocol.tables import CODES

from .shapes import Cause, Count, Digest, OperationTaken, Problem, Receipt, Signal, StepContent, Time

#: The fields of a command's answers beside status, replayed and receipt; each stands in those it belongs to.
FIELDS: dict[str, dict[str, Any]] = {
    "submit": {"spec_digest": Digest},
    "cancel": {"cascaded": Count},
    "claim": {"claim": str, "fence": int, "lease_expires_at": Time, "holder": str},
    "heartbeat": {
        "control": Control,
        "paused": bool,
        "signal": Signal | None,
        "lease_expires_at": Time | None,
        "cause": Cause,
    },
    "reserve": {
        "ordinal": Count,
        "step": StepContent,
        "idempotency_key": str,
        "dispatched": bool,
        "cause": Cause,
    },
    "dispatch": {"cause": Cause},
    "report": {"result": Result, "cause": Cause},
    "release": {"cause": Cause},
    "checkpoint": {"ordinal": Count, "children": Count},
    "reconcile": {"proposal": str, "result": Result},
    "approve": {"result": Result},
    "decline": {"result": Result},
    "seal": {"sealed_generation": int},
    "operate": {"operation": OperationTaken},
    "abort": {"operation": OperationTaken},
}
#: What the door itself may answer to any command.
PROBLEMS = (401, 403, 404, 413, 415, 422, 429, 503)


def statuses(ask: type[Ask]) -> dict[int, list[str]]:
    """The words of each HTTP code, by the command's table; its `not_found` is a problem (404)."""
    found: dict[int, list[str]] = {}
    for (kind, status), code in CODES.items():
        if kind == ask.kind and code != 404:
            found.setdefault(code, []).append(status)
    if issubclass(ask, Event):
        found.setdefault(409, []).append("event_conflict")
    return found


def responses(ask: type[Ask]) -> dict[int, Any]:
    """The schema of every answer to a command, the refusals too, by HTTP code."""
    answers: dict[int, Any] = {code: _model(ask, code, words) for code, words in statuses(ask).items()}
    both = {422: answers[422] | Problem} if 422 in answers else {}
    return answers | dict.fromkeys(PROBLEMS, Problem) | both


def _model(ask: type[Ask], code: int, words: list[str]) -> type[BaseModel]:
    fields: dict[str, Any] = {
        "status": Literal[tuple(words)],
        "replayed": bool,
        "receipt": Receipt | None,
        **{name: (type_, Field(default=None)) for name, type_ in FIELDS.get(ask.kind, {}).items()},
    }
    config = ConfigDict(extra="allow")
    return create_model(f"{ask.__name__}Answer{code}", __config__=config, **fields)


def reply(answer: Answer) -> JsonResponse:
    """An answer as it is sent. Nobody on the way may keep it: it can hold a token."""
    return sent(answer.json(), answer.code)


def sent(body: dict[str, Any], code: int = 200) -> JsonResponse:
    response = JsonResponse(body, status=code, json_dumps_params={"ensure_ascii": False})
    response["Cache-Control"] = "no-store"
    return response
