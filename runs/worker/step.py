"""A step in a worker's hands: what its function is given, and what it may say afterwards.

Not the rules for what is reported (run.py).
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from runs.worker import wire
from runs.worker.cancel import CancelToken
from runs.worker.errors import AlreadyDispatched, Stopped, Unexpected
from runs.worker.plans import Plan, Retry, persist
from runs.worker.wire import Effect, Send

#: Notes, values and evidence text are at most this many UTF-8 bytes (docs/protocol.md, section 2).
TEXT_LIMIT = 4096


@dataclass(frozen=True, slots=True)
class Evidence:
    """How it is known that the effect happened. `link`: http(s) only."""

    kind: Literal["receiver_confirmed", "worker_reported"]
    text: str
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Happened:
    """Returned by a step's function: the effect happened. `value` is what the receiver said of it.

    A value longer than 4 KiB is cut and control characters become spaces: the outcome must arrive.
    """

    value: str = ""
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim this process holds. `token` is secret; `cancel` is the run's, above that of each step."""

    job_id: str
    token: str = field(repr=False)
    fence: int
    marked: bool
    cancel: CancelToken = field(repr=False)


class Reservation:
    """One reserved step, and what is known about whether its effect may be out. Made for one attempt."""

    def __init__(self, claim: Claim, ask: Send, answer: wire.Answer, retry: Retry) -> None:
        spec: Mapping[str, Any] = answer["step"]
        self.claim = claim
        #: The step's own while its function is called: a child of the run's.
        self.cancel = claim.cancel
        self.attempt = ask.body["attempt"]
        self.ordinal: int = answer["ordinal"]
        self.idempotency_key: str = answer["idempotency_key"]
        self.label: str = spec["label"]
        self.tool: str = spec["tool"]
        self.target: str = spec["target"]
        self.params: Mapping[str, Any] = spec["params"]
        #: The effect may have been sent: the mark is ours, or the function of an unmarked job was entered.
        self.sent = False
        #: The server said that the step is no longer ours to send.
        self.refused = False
        self.retry = retry
        self._asked = threading.Lock()

    def begin(self) -> None:
        """The last moment before the step's function is called. Raises Cancelled: then it must not be."""
        self.cancel.raise_if_cancelled()
        self.sent = not self.claim.marked

    def dispatching(self) -> Plan[None]:
        """Ask for the permission to send, once (docs/protocol.md, dispatch).

        Raises AlreadyDispatched the second time: a replayed `dispatched` may be acted on only by who has sent
        nothing under it. Raises Stopped or Cancelled where nothing may be sent.
        """
        if not self._asked.acquire(blocking=False):
            raise AlreadyDispatched(f"step {self.ordinal}: one dispatch permits one send, and there was one")
        self.cancel.raise_if_cancelled()
        if not self.claim.marked:
            return
        ask = wire.command(
            self.claim.job_id, "dispatch", claim=self.claim.token, ordinal=self.ordinal, attempt=self.attempt
        )
        answer = yield from persist(ask, self.retry)
        match answer.status:
            case "dispatched":
                self.sent = True
                # The answer may be a replay, older than a stop or a loss that has been heard meanwhile.
                self.cancel.raise_if_cancelled()
            case "cancelled" | "claim_lost":
                self.refused = True
                self.claim.cancel.observe(answer)
                self.claim.cancel.raise_if_cancelled()
            case "not_reserved" | "already_dispatched":
                self.refused = True
                raise Stopped(f"step {self.ordinal} may not be sent: {answer.status}")
            case _:
                raise Unexpected(f"dispatch answered {answer.status!r}")


class Step:
    """What a step's function gets. The identity of the effect is `idempotency_key`: give it to the receiver,
    and the claim's `fence` too where it checks that.

    `cancel` is the step's cancel token, a child of the run's; `params` are the spec's, not to be changed.

    The function returns Happened, or raises: Refused where somebody said no; anything else means release in a
    marked job before `dispatch()`, and `unknown` everywhere else, since then it may have been sent.
    """

    def __init__(self, reservation: Reservation) -> None:
        self.job_id = reservation.claim.job_id
        self.marked = reservation.claim.marked
        self.fence = reservation.claim.fence
        self.cancel = reservation.cancel
        self.ordinal = reservation.ordinal
        self.label = reservation.label
        self.tool = reservation.tool
        self.target = reservation.target
        self.params = reservation.params
        self.idempotency_key = reservation.idempotency_key


class StepContext(Step):
    """A step for a function that blocks."""

    def __init__(self, reservation: Reservation, dispatch: Callable[[], None]) -> None:
        super().__init__(reservation)
        self._dispatch = dispatch

    def dispatch(self) -> None:
        """Call right before the effect is sent: returns when it may be, and raises otherwise; let that fly.

        In a marked job it sets the mark. In an unmarked one there is none: it only heeds the cancel token.
        Raises Cancelled, Stopped, AlreadyDispatched (a second call, whatever became of the first).
        """
        self._dispatch()


class AsyncStepContext(Step):
    """A step for a coroutine function."""

    def __init__(self, reservation: Reservation, dispatch: Callable[[], Awaitable[None]]) -> None:
        super().__init__(reservation)
        self._dispatch = dispatch

    async def dispatch(self) -> None:
        """`StepContext.dispatch`, awaited."""
        await self._dispatch()


Tool = Callable[[StepContext], Happened]
AsyncTool = Callable[[AsyncStepContext], Awaitable[Happened]]


@dataclass(frozen=True, slots=True)
class Act(Effect):
    """Call the step's function. The only effect that is never performed a second time."""

    tool: Callable[..., Any]
    reservation: Reservation


def fit(text: str, limit: int = TEXT_LIMIT) -> str:
    """`text` as the server takes it: no control characters but newline and tab, no lone surrogates, cut."""
    plain = "".join(c if c in "\n\t" or (ord(c) >= 32 and not 127 <= ord(c) < 160) else " " for c in text)
    data = plain.encode("utf-8", "replace").strip()
    if len(data) <= limit:
        return data.decode()
    return data[: limit - 3].decode("utf-8", "ignore") + "…"
