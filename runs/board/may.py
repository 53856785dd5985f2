"""What this person may do to this job now, and why not. Two questions, always both: may the state (the
protocol's own
tables, asked with a probe that changes nothing) and may the person (the permission's own decision)? The
command asks them again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from runs.models import Job as Row
from runs.permissions import Action, Actor, Rights, Target, error_of, has_executed
from runs.protocol import asks
from runs.protocol.decide import decide
from runs.protocol.evidence import Evidence
from runs.protocol.states import Job, Proposal, State, World
from runs.protocol.tables import TABLES

Sentence = str | Promise
EVENT = "probe"


def _always(job: Job) -> bool:
    return True


def _paused(job: Job) -> bool:
    return job.paused_at is not None


def _disputed(job: Job) -> bool:
    return any(step.disputed for step in job.steps.values())


@dataclass(frozen=True)
class Deed:
    """One thing to do on a job page. `probe` makes the command to ask the protocol with (None: nothing to
    do it to);
    `why_not` says what an answer other than the good ones means; `looked_for`: whether people look for it
    now."""

    name: str
    action: Action
    label: Sentence
    good: tuple[str, ...]
    probe: Callable[[Job], Any]
    why_not: dict[str, Sentence]
    nothing: Sentence = ""
    looked_for: Callable[[Job], bool] = _always


@dataclass(frozen=True)
class Judged:
    """A deed, judged: `possible`, or `reason` (and whether a right is what is missing)."""

    deed: Deed
    possible: bool
    reason: str = ""
    forbidden: bool = False


def _outcome(job: Job) -> Any:
    disputed_next = job.position < job.n_steps and job.current is State.PENDING and job.now_at.disputed
    if job.unsettled is None and not disputed_next:
        return None
    seen = Evidence(kind="receiver_confirmed", text="")
    return asks.Reconcile(event_id=EVENT, ordinal=job.position, outcome="ok", evidence=seen)


def _close(job: Job) -> Any:
    ordinal = next((ordinal for ordinal, step in job.steps.items() if step.disputed), None)
    return None if ordinal is None else asks.CloseDispute(event_id=EVENT, ordinal=ordinal)


DEEDS = (
    Deed(
        "outcome",
        Action.RECONCILE,
        _("Record outcome"),
        ("settled", "proposed"),
        _outcome,
        {
            "still_claimed": _(
                "Its worker still holds this step. Revoke the claim first, or wait for the lease to end."
            ),
            "waiting": _(
                "An outcome is waiting for a second person. Nothing else can be recorded until then."
            ),
            "not_reserved": _("No step is out: there is no outcome to record."),
            "not_admitted": _("This is a tombstone: no step was or will be sent."),
        },
        _("No step is out: there is no outcome to record."),
    ),
    Deed(
        "close_dispute",
        Action.RECONCILE,
        _("Close the dispute"),
        ("dispute_closed",),
        _close,
        {},
        looked_for=_disputed,
    ),
    Deed(
        "cancel",
        Action.CANCEL,
        _("Request cancel"),
        ("requested",),
        lambda job: asks.Cancel(event_id=EVENT, spec_digest=job.digest),
        {
            "already_requested": _("A cancel was already requested. Asking twice changes nothing."),
            "too_late": _("The job has already ended; a cancel would change nothing."),
        },
    ),
    Deed(
        "pause",
        Action.PAUSE,
        _("Pause"),
        ("paused",),
        lambda job: asks.Pause(event_id=EVENT),
        {"too_late": _("Nothing more will start, so there is nothing to pause.")},
        looked_for=lambda job: not _paused(job),
    ),
    Deed(
        "resume",
        Action.PAUSE,
        _("Resume"),
        ("resumed",),
        lambda job: asks.Resume(event_id=EVENT),
        {"too_late": _("A cancel was requested or the job has ended: nothing will start again.")},
        looked_for=_paused,
    ),
    Deed(
        "revoke",
        Action.REVOKE,
        _("Revoke the worker's claim"),
        ("revoked",),
        lambda job: asks.Revoke(event_id=EVENT),
        {"no_claim": _("No worker holds a claim.")},
    ),
)


def judge(
    actor: Actor, row: Row, job: Job, rights: Rights, now: datetime, open_proposal: Proposal | None
) -> list[Judged]:
    """Every deed that people look for on this job, in the order of use."""
    world = World(now=now, job=job, proposal=open_proposal)
    executor = has_executed(actor, row, Action.RECONCILE)
    return [
        _judged(deed, world, rights, Target.of(row), now, executor) for deed in DEEDS if deed.looked_for(job)
    ]


def _judged(
    deed: Deed, world: World, rights: Rights, target: Target, now: datetime, executor: bool
) -> Judged:
    ask = deed.probe(world.at)
    if ask is None:
        return Judged(deed, False, str(deed.nothing))
    status = decide(TABLES[ask.kind], world, ask).row.status
    if status not in deed.good:
        return Judged(deed, False, str(deed.why_not.get(status, status)))
    verdict = rights.judge(deed.action, target, now=now, executor=executor)
    if not verdict.allowed:
        return Judged(deed, False, str(error_of(verdict)), forbidden=True)
    return Judged(deed, True)


def may_record(rights: Rights, row: Row, now: datetime) -> bool:
    """For a list's row: the right alone; the page that opens says what else stands against it."""
    return rights.judge(Action.RECONCILE, Target.of(row), now=now).allowed
