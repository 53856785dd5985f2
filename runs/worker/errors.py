"""What can be raised by the SDK, and what a step's function may raise to say how it ended.

Not the server's errors (runs/errors.py): the SDK installs alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runs.worker.causes import Cause

REFUSALS = ("worker_refused", "receiver_refused", "receiver_sealed")


class Refused(Exception):
    """Raised by a step's function: it did not happen, and this is who said no. Reported as `rejected`.

    `worker_refused`: the tool itself answered no before any effect. `receiver_refused`: the receiver did.
    `receiver_sealed`: the receiver will refuse this idempotency key from now on. A time-out or "not found"
    is none of these: let such an exception fly (docs/protocol.md, section 6).
    """

    def __init__(self, text: str, kind: str = "worker_refused") -> None:
        if kind not in REFUSALS:
            raise ValueError(f"{kind!r} says nothing against the effect; one of {', '.join(REFUSALS)} does")
        super().__init__(text)
        self.kind = kind


class Stopped(Exception):
    """Raised by a step's function that stops by its own decision.

    Never a rejection. Before `dispatch()` in a marked job the step is released; anywhere else it may have
    been sent, and is reported `unknown` (docs/protocol.md, report).
    """


class Cancelled(Stopped):
    """The step was told to stop, by `cause`: a cancel, or a lost claim."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.short)
        self.cause = cause


class SdkError(Exception):
    """Anything the SDK itself cannot go on from."""


class NoAnswer(SdkError):
    """No usable answer came back: the request may or may not have been carried out.

    `retry_after`: seconds the server asked to wait, or None.
    """

    def __init__(self, text: str, retry_after: float | None = None) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class Unreachable(SdkError):
    """No answer for as long as `Retry.give_up` allows; it may still have been carried out.

    `request` holds what was sent: the same event id may be sent again at any time.
    """

    def __init__(self, request: object, text: str) -> None:
        super().__init__(f"gave up waiting for an answer: {text}")
        self.request = request


class Problem(SdkError):
    """The server refused outside the protocol (HTTP 4xx, problem+json); trying again would not help.

    `errors`: `{"field", "message"}` objects of a 422.
    """

    def __init__(self, status: int, code: str, detail: str, errors: Sequence[Mapping[str, Any]] = ()) -> None:
        fields = [f"{error.get('field')}: {error.get('message')}" for error in errors]
        super().__init__(": ".join(filter(None, [f"{status} {code}".strip(), detail, "; ".join(fields)])))
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = tuple(errors)


class Unexpected(SdkError):
    """A protocol answer that the request cannot get: the server speaks another version."""


class UnknownTool(SdkError):
    """The job has a step that this worker has no function for; nothing was claimed."""


class AlreadyDispatched(SdkError):
    """`dispatch()` was called twice in one step; it permits one send, never a second."""
