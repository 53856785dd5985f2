"""One run of one job, from the claim to its end, as plans (docs/protocol.md, section 4).

The rule above all: a step's function is called only for a fresh `reserved` of this process, and never again
for a step that it may have sent. What is not known is reported `unknown`, never guessed.
Not the heartbeat (pulse.py), and no word on threads.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from runs.worker import wire
from runs.worker.cancel import CancelToken
from runs.worker.causes import WORK_CLAIM_LOST, Cause
from runs.worker.errors import Refused, Stopped, Unexpected, UnknownTool
from runs.worker.outcome import Ended, How
from runs.worker.plans import Nap, Plan, Retry, log, persist
from runs.worker.reports import abandon, happened, rejected, unknown
from runs.worker.step import Act, Claim, Happened, Reservation
from runs.worker.wire import Send


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds. `ttl`: the lease, 5 to 3600. `claim_wait`: how long a held claim is waited for; None: twice
    the ttl, longer than any such lease that nobody renews. `poll`: between looks at a held or paused job.

    `run` and `step` are hard limits, None: none. When one has passed the token is cancelled here, with the
    cause `run_hard_timeout` or `deadline_exceeded`, and nothing more is started; `grace` later it is aborted,
    as after a shutdown. The server knows nothing of it: the job goes on with the next run.
    """

    heartbeat: float = 15.0
    ttl: int = 90
    claim_wait: float | None = None
    poll: float = 5.0
    run: float | None = None
    step: float | None = None
    grace: float = 30.0

    def __post_init__(self) -> None:
        if not 0 < self.heartbeat < self.ttl:
            raise ValueError("a heartbeat must come before its lease has ended: 0 < heartbeat < ttl")


def take(
    job_id: str,
    worker: str,
    tools: Mapping[str, Callable[..., object]],
    timing: Timing,
    retry: Retry,
    cancel: CancelToken,
) -> Plan[Claim | Ended]:
    """Claim the job. A held claim is waited for: after a crash or a lost answer it may be our own.

    Raises UnknownTool before anything is claimed: a step reserved for nobody would have to be called unknown.
    """
    job = yield from persist(wire.job(job_id), retry)
    missing = {step["tool"] for step in job["steps"] if step["state"] not in ("ok", "rejected")} - set(tools)
    if missing:
        raise UnknownTool(f"{job_id}: no function for {', '.join(sorted(missing))}")
    wait = 2 * timing.ttl if timing.claim_wait is None else timing.claim_wait
    deadline = time.monotonic() + wait
    ask = wire.command(job_id, "claim", worker=worker, ttl_seconds=timing.ttl)
    while not cancel.cancelled:
        answer = yield from persist(ask, retry)
        match answer.status:
            case "claimed":
                marked = job["dispatch"] == "marked"
                return Claim(job_id, answer["claim"], answer["fence"], marked, cancel)
            case "claim_held" if time.monotonic() < deadline:
                yield Nap(_until(answer["lease_expires_at"], timing.poll), cancel)
            case "claim_held":
                return Ended(How.HELD)
            case "closed":
                return Ended(How.CLOSED)
            case "not_admitted":
                return Ended(How.NOT_ADMITTED)
            case _:
                raise Unexpected(f"claim answered {answer.status!r}")
    return Ended(How.STOPPED, cancel.cause)


def _until(lease_expires_at: str, poll: float) -> float:
    """Seconds to the end of the lease, at most one poll: clocks may differ, and a revoke ends it sooner."""
    left = (datetime.fromisoformat(lease_expires_at) - datetime.now(UTC)).total_seconds()
    return min(left, poll) if left > 0 else poll


def work(
    claim: Claim, tools: Mapping[str, Callable[..., object]], timing: Timing, retry: Retry
) -> Plan[Ended]:
    """Reserve, execute, report, step by step, until the server hands out nothing more, or we stop here."""
    sent: set[int] = set()
    lost: list[Send] = []
    ask: Send | None = None
    while True:
        if ask is None:
            cancel = claim.cancel
            if cancel.cancelled and not (cancel.accepted or cancel.lost):
                return Ended(How.STOPPED, cancel.cause)
            ask = _reserve(claim)
        answer = yield from persist(ask, retry, lost)
        match answer.status:
            case "reserved":
                reservation = Reservation(claim, ask, answer, retry)
                if reservation.ordinal in sent:
                    # The server has forgotten (a restored backup?); this process has not.
                    ended = yield from unknown(reservation, "handed out again: the server forgot it")
                else:
                    ended = yield from _execute(reservation, tools[reservation.tool], timing)
                if reservation.sent:
                    sent.add(reservation.ordinal)
                if ended is not None:
                    return ended
            case "paused":
                yield Nap(timing.poll, claim.cancel)
            case "cancelled":
                claim.cancel.observe(answer)
                return Ended(How.CANCELLED, claim.cancel.cause)
            case "claim_lost":
                claim.cancel.observe(answer)
                return Ended(How.LOST, Cause.read(answer.get("cause"), WORK_CLAIM_LOST))
            case "finished":
                return Ended(How.FINISHED)
            case "inflight" if lost:
                # A request given up for lost came late and reserved this step for us: asked again, it tells.
                ask = lost.pop()
                continue
            case "inflight" | "unknown":
                return Ended(How.UNKNOWN, ordinal=answer["ordinal"])
            case "disputed":
                return Ended(How.DISPUTED, ordinal=answer.get("ordinal"))
            case _:
                raise Unexpected(f"reserve answered {answer.status!r}")
        ask = None


def _reserve(claim: Claim) -> Send:
    """With a fresh attempt: it is kept in memory, through every try of this one reservation."""
    return wire.command(claim.job_id, "reserve", claim=claim.token, attempt=secrets.token_hex(16))


def _execute(reservation: Reservation, tool: Callable[..., object], timing: Timing) -> Plan[Ended | None]:
    """Call the step's function, once, and see that what it said arrives. None: go on and ask for the next.

    A step that is told to stop before its function is called is not called: `stop` means start nothing new.
    """
    with reservation.claim.cancel.child(within=timing.step, grace=timing.grace) as reservation.cancel:
        return (yield from _call(reservation, tool))


def _call(reservation: Reservation, tool: Callable[..., object]) -> Plan[Ended | None]:
    try:
        reservation.begin()
        said = yield Act(tool, reservation)
        if not isinstance(said, Happened):
            raise TypeError(f"the function of step {reservation.ordinal} returned {said!r}, not Happened")
    except Refused as no:
        return (yield from rejected(reservation, no))
    except Exception as error:
        if not isinstance(error, Stopped):
            log.error("step %s of %s failed", reservation.ordinal, reservation.claim.job_id, exc_info=error)
        return (yield from abandon(reservation, error))
    return (yield from happened(reservation, said))
