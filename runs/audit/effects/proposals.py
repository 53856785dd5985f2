"""What became of an outcome that waited for a second person (PROTOCOL section 4, reconcile). Pure."""

from datetime import timedelta

from ..findings import UnreadableError
from ..receipts import Read
from ..state import Job, Proposal
from .conditions import outcome, reconcilable

RULE = "proposals"
LIFE = timedelta(hours=24)


def proposed(job: Job, r: Read) -> None:
    ordinal, name = r.asked("ordinal", int), r.decided("proposal", str)
    reconcilable(job, r, ordinal)
    job.must(r, RULE, f"that proposal {name} is new", True, name not in job.proposals)
    said = outcome(r), r.asked("value", str), r.asked("evidence", dict)
    version = job.steps[ordinal].version
    job.proposals[name] = Proposal(name, r.seq, ordinal, *said, version, r.actor, r.at, r.at + LIFE)
    job.told["proposal"] = name


def approved(job: Job, r: Read) -> None:
    entered = _decided(job, r, "approved")
    _in_time(job, r, entered)
    job.must(r, RULE, "that somebody else approves", True, r.actor != entered.by)
    reconcilable(job, r, entered.ordinal)
    job.settle(r, entered.ordinal, entered.outcome, entered.value)


def declined(job: Job, r: Read) -> None:
    own = _named(job, r).by == r.actor
    _in_time(job, r, _decided(job, r, "withdrawn" if own else "declined"))


def expired(job: Job, r: Read) -> None:
    entered = _decided(job, r, "expired")
    job.must(r, RULE, f"that proposal {entered.proposal_id} is over", True, r.at >= entered.expires_at)
    entered.decided_by = None  # time, not a person


def _named(job: Job, r: Read) -> Proposal:
    name = r.asked("proposal", str)
    if name not in job.proposals:
        raise UnreadableError(f"body.proposal of {r.receipt}", "a proposal of this job", name)
    return job.proposals[name]


def _decided(job: Job, r: Read, state: str) -> Proposal:
    """The open proposal that was decided."""
    entered = _named(job, r)
    job.must(r, RULE, f"state of proposal {entered.proposal_id}", "open", entered.state)
    entered.state, entered.decided_by, entered.decided_at = state, r.actor, r.at
    looked_at(job, r)
    return entered


def looked_at(job: Job, r: Read) -> None:
    """Decided or refused, the receipt names the proposal, who entered it, its outcome and its state."""
    entered = _named(job, r)
    job.told |= {
        "proposal": entered.proposal_id,
        "proposed_by": entered.by,
        "outcome": entered.outcome,
        "proposal_state": entered.state,
    }


def _in_time(job: Job, r: Read, entered: Proposal) -> None:
    job.must(r, RULE, f"that proposal {entered.proposal_id} still runs", True, r.at < entered.expires_at)
    version = job.step(r, entered.ordinal).version
    job.must(r, RULE, f"version of step {entered.ordinal}", entered.version, version)
