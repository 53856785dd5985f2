"""One state of the search: what a decision can see of a small job, and nothing that only grows.

Left out: the ledger's numbers and versions (a proposal remembers only whether its step changed since), times
(an instant is over, or still to come), who heard what, and absolute fences. Decisions compare fences only for
equality, so four numbers say all of them, however many claims there were.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from runs.protocol.states import Job, Proposal, Result, State, Step

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
OLDER, RESERVER, NEWEST, REVOKED = (
    1,
    2,
    3,
    4,
)  #: fences: RESERVER is an older one that has the step at the cursor
PAST, FUTURE = NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)


@dataclass(frozen=True)
class Place:
    job: Job | None = None
    issued: tuple[int, ...] = ()  #: the fences that have tokens
    cancels: int = 0  #: accepted ones, for I7
    settlings: tuple[int, ...] = ()  #: settling receipts of each step, for I8
    proposal: Proposal | None = None  #: the newest; older ones can only be refused
    sealed: bool = False

    def key(self) -> Hashable:
        """What makes two places one."""
        return (_job_key(self.job), self.issued, self.cancels, self.settlings, self.proposal, self.sealed)


def _job_key(job: Job | None) -> Hashable:
    if job is None:
        return None
    steps = tuple((*vars(step).values(),)[1:] for step in job.steps.values())  # all but its content
    return (*({**vars(job), "steps": steps}).values(),)


def plain(job: Job, issued: Iterable[int]) -> tuple[Job, tuple[int, ...]]:
    """The job and the fences that have tokens, without what only grows."""
    named = names(job)
    fences = {named.get(fence) or OLDER for fence in issued}
    steps = {ordinal: _plain_step(step, job.state(ordinal), named) for ordinal, step in job.steps.items()}
    kept = replace(
        job,
        seq=0,
        fence=named[job.fence] or 0,
        lease_expires_at=_instant(job.lease_expires_at),
        paused_at=job.paused_at and NOW,
        paused_seq=None,
        paused_cause="",
        cancel=job.cancel and replace(job.cancel, seq=0),
        escalated_seq=None if job.escalated_seq is None else 0,
        heard_seq=None,
        heard_at=None,
        blocked_submits=0,
        blocked_at=None,
        steps=steps,
    )
    return kept, tuple(sorted(fences))


def names(job: Job) -> dict[int | None, int | None]:
    """What the fences that matter are called here; any other is OLDER."""
    at_cursor = job.now_at.reserved_by if job.result is Result.OPEN else None
    named = {at_cursor: RESERVER, None: None, 0: 0}
    return named | ({job.fence: NEWEST if job.holder else REVOKED} if job.fence else {})


def _plain_step(step: Step, state: State, named: dict[int | None, int | None]) -> Step:
    """Of a settled step only its value and its dispute are ever looked at again."""
    if state in (State.OK, State.REJECTED):
        return Step(disputed=step.disputed, value=step.value)
    said = tuple(sorted(set(step.testimony), key=lambda one: (one.outcome, one.value)))
    reserved_by = named.get(step.reserved_by, OLDER)
    return replace(
        step, version=0, reserved_by=reserved_by, dispatched_at=step.dispatched_at and NOW, testimony=said
    )


def plain_proposal(proposal: Proposal, job: Job) -> Proposal:
    """Its version says only whether its step is as it was: 0, or -1. A dead one can only be refused."""
    is_same = job.steps[proposal.ordinal].version == proposal.version
    expires_at = FUTURE if proposal.expires_at > NOW else PAST
    plain = replace(proposal, id="p", own=False, version=0 if is_same else -1, expires_at=expires_at)
    return plain if proposal.state == "open" and is_same else replace(plain, outcome="", value="")


def _instant(time: datetime | None) -> datetime | None:
    return time and (FUTURE if time > NOW else PAST)
