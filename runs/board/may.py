"""What this person may do to this job now, and why not. Two questions, always both: may the state (the
protocol's own tables, asked with a probe that changes nothing) and may the person (the permission's own
decision)? The command asks them again.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from runs.permissions import Action, Target, error_of, has_executed
from runs.protocol import asks
from runs.protocol.decide import decide
from runs.protocol.evidence import Evidence
from runs.protocol.states import Job, State, World
from runs.protocol.tables import TABLES
from runs.queries.job_page import JobPage

from .door import Reader
from .shapes import Cannot, Link

Sentence = str | Promise
EVENT = "probe"


def _always(job: Job) -> bool:
    return True


def _paused(job: Job) -> bool:
    return job.paused_at is not None


def disputed_step(job: Job) -> int | None:
    """The first step about which reports differ."""
    return next((ordinal for ordinal, step in job.steps.items() if step.disputed), None)


@dataclass(frozen=True)
class Deed:
    """One thing to do on a job page. `probe` makes the command to ask the protocol with (None: nothing to
    do it to); `why_not` says what an answer other than the good ones means; `looked_for`: whether people
    look for it now."""

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
    """A deed, judged: `possible`, or why not: the protocol's or the permission's `code`, and a `reason`.
    `forbidden`: a right is what is missing. `kind`: the command that was asked about."""

    deed: Deed
    possible: bool
    kind: str = ""
    code: str = ""
    reason: str = ""
    forbidden: bool = False


def _outcome(job: Job, ordinal: int | None = None) -> Any:
    if ordinal not in (None, job.position):
        return None
    disputed_next = job.position < job.n_steps and job.current is State.PENDING and job.now_at.disputed
    if job.unsettled is None and not disputed_next:
        return None
    seen = Evidence(kind="receiver_confirmed", text="")
    return asks.Reconcile(event_id=EVENT, ordinal=job.position, outcome="ok", evidence=seen)


def _close(job: Job) -> Any:
    ordinal = disputed_step(job)
    return None if ordinal is None else asks.CloseDispute(event_id=EVENT, ordinal=ordinal)


DEEDS = (
    Deed(
        "outcome",
        Action.RECONCILE,
        _("Record outcome"),
        ("settled", "proposed", "observed"),
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
        _("Reports about its steps do not differ."),
        looked_for=lambda job: disputed_step(job) is not None,
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
        {
            "too_late": _("Nothing more will start, so there is nothing to pause."),
            "already_paused": _("It is paused."),
        },
        looked_for=lambda job: not _paused(job),
    ),
    Deed(
        "resume",
        Action.PAUSE,
        _("Resume"),
        ("resumed",),
        lambda job: asks.Resume(event_id=EVENT),
        {
            "too_late": _("A cancel was requested or the job has ended: nothing will start again."),
            "not_paused": _("It is not paused."),
        },
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
BY_NAME = {deed.name: deed for deed in DEEDS}


def outcome_of(ordinal: int) -> Deed:
    """Recording the outcome of just this step."""
    nothing = _("This step is not out: there is no outcome of it to record.")
    return replace(BY_NAME["outcome"], probe=partial(_outcome, ordinal=ordinal), nothing=nothing)


def judge(reader: Reader, found: JobPage) -> list[Judged]:
    """Every deed that people look for on this job, in the order of use."""
    return [judge_one(reader, found, deed) for deed in DEEDS if deed.looked_for(found.job)]


def judge_one(reader: Reader, found: JobPage, deed: Deed) -> Judged:
    ask = deed.probe(found.job)
    if ask is None:
        return Judged(deed, False, code="nothing", reason=str(deed.nothing))
    world = World(now=found.now, job=found.job, proposal=found.waits)
    status = decide(TABLES[ask.kind], world, ask).row.status
    if status not in deed.good:
        return Judged(deed, False, ask.kind, status, str(deed.why_not.get(status, status)))
    executor = has_executed(reader.actor, found.row, deed.action)
    verdict = reader.rights.judge(deed.action, Target.of(found.row), now=found.now, executor=executor)
    if not verdict.allowed:
        return Judged(deed, False, ask.kind, verdict.code, str(error_of(verdict)), forbidden=True)
    return Judged(deed, True, ask.kind)


def as_cannot(judged: Judged, job_id: str) -> Cannot:
    """The reason as a page shows it, with the way out where there is one."""
    revoke = Link(gettext("Revoke the claim"), reverse("deed", args=[job_id, "revoke"]))
    return Cannot(
        str(judged.deed.label),
        judged.reason,
        "lock" if judged.forbidden else "no-entry",
        revoke if judged.code == "still_claimed" else None,
    )
