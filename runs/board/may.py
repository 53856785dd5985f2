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
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from runs.permissions import WAYS, Action, Target, error_of, has_executed
from runs.protocol import asks
from runs.protocol.decide import decide
from runs.protocol.evidence import Evidence
from runs.protocol.states import Job, Proposal, State, World
from runs.protocol.tables import TABLES
from runs.queries import can
from runs.queries.job_page import JobPage
from runs.words import sentences

from .door import Reader, address
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
    `forbidden`: a right is what is missing, and `who` says who has it. `kind`: the command that was asked
    about."""

    deed: Deed
    possible: bool
    kind: str = ""
    code: str = ""
    reason: str = ""
    forbidden: bool = False
    who: str = ""


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


#: Why an entry can't be decided any more.
DECIDED: dict[str, Sentence] = {
    "already_decided": _("This entry was decided."),
    "expired": _("This entry was older than 24 hours, and ended. The step is as unknown as before."),
    "superseded": _("The step changed after this was entered, so it needs a fresh look."),
}

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
#: A look-up may find what a person could record, or wait for with a second one.
CHECK = replace(DEEDS[0], name="check", label=_("Check again"), good=("settled", "proposed", "waiting"))
BY_NAME = {deed.name: deed for deed in DEEDS}


def outcome_of(ordinal: int) -> Deed:
    """Recording the outcome of just this step."""
    nothing = _("This step is not out: there is no outcome of it to record.")
    return replace(BY_NAME["outcome"], probe=partial(_outcome, ordinal=ordinal), nothing=nothing)


def approve(entry: Proposal) -> Deed:
    """Agreeing with this entry, which the page shows."""
    return Deed(
        "approve",
        Action.APPROVE,
        _("Approve this entry"),
        ("settled",),
        lambda job: asks.Approve(event_id=EVENT, proposal=entry.id),
        DECIDED,
    )


def decline(entry: Proposal) -> Deed:
    """Sending it back; taking back one's own is part of recording outcomes."""
    return Deed(
        "decline",
        Action.RECONCILE if entry.own else Action.APPROVE,
        _("Withdraw this entry") if entry.own else _("Send this entry back"),
        ("declined",),
        lambda job: asks.Decline(event_id=EVENT, proposal=entry.id),
        DECIDED,
    )


def judge(reader: Reader, found: JobPage) -> list[Judged]:
    """Every deed that people look for on this job, in the order of use."""
    return _explained(
        reader, found, [_judged(reader, found, deed) for deed in DEEDS if deed.looked_for(found.job)]
    )


def judge_one(reader: Reader, found: JobPage, deed: Deed) -> Judged:
    return _explained(reader, found, [_judged(reader, found, deed)])[0]


def _explained(reader: Reader, found: JobPage, judged: list[Judged]) -> list[Judged]:
    """Beside every refusal by a right, who has it."""
    actions = {each.deed.action for each in judged if each.forbidden}
    if not actions:
        return judged
    names = can.who_may(reader.actor, actions, found.row, reader.now)
    named = can.may_name(reader.rights, found.row, reader.now)
    return [
        replace(each, who=who_may(names[each.deed.action], named)) if each.forbidden else each
        for each in judged
    ]


def who_may(names: list[str], named: bool) -> str:
    """ "lena and 2 others may."; without names for those who may not read them."""
    count = len(names)
    if not count:
        return gettext("Nobody here may at present.")
    if not named:
        return ngettext("%(n)d other here may.", "%(n)d others here may.", count) % {"n": count}
    if count == 1:
        return gettext("%(name)s may.") % {"name": names[0]}
    return ngettext("%(name)s and %(n)d other may.", "%(name)s and %(n)d others may.", count - 1) % {
        "name": names[0],
        "n": count - 1,
    }


def _judged(reader: Reader, found: JobPage, deed: Deed) -> Judged:
    ask = deed.probe(found.job)
    if ask is None:
        return Judged(deed, False, code="nothing", reason=str(deed.nothing))
    entry = found.entry(ask.proposal) if hasattr(ask, "proposal") else found.waits
    world = World(now=found.now, job=found.job, proposal=entry)
    status = decide(TABLES[ask.kind], world, ask).row.status
    if status not in deed.good:
        return Judged(deed, False, ask.kind, status, str(deed.why_not.get(status, status)))
    executor = has_executed(reader.actor, found.row, deed.action)
    own = deed.action is Action.APPROVE and entry is not None and entry.own
    verdict = reader.rights.judge(
        deed.action, Target.of(found.row), now=found.now, executor=executor, own_proposal=own
    )
    if not verdict.allowed:
        reason = sentences(str(error_of(verdict)), gettext(WAYS[verdict.code]))
        return Judged(deed, False, ask.kind, verdict.code, reason, forbidden=True)
    return Judged(deed, True, ask.kind)


def as_cannot(judged: Judged, job_id: str) -> Cannot:
    """The reason as a page shows it, with the way out where there is one."""
    ways = {
        "still_claimed": Link(gettext("Revoke the claim"), reverse("deed", args=[job_id, "revoke"])),
        "waiting": Link(gettext("See what waits"), reverse("approvals")),
    }
    asked = {"action": str(judged.deed.action), "job_id": job_id}
    why = Link(gettext("Why, and who may"), address(reverse("can"), asked))
    return Cannot(
        str(judged.deed.label),
        sentences(judged.reason, judged.who),
        "lock" if judged.forbidden else "no-entry",
        why if judged.forbidden else ways.get(judged.code),
    )
