"""What a cancel would do now, before somebody asks for it. Changes and promises nothing."""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from runs.ledger import as_text, clock
from runs.models import Job, Step, snapshot
from runs.permissions import SENTENCES, WAYS, Action, Actor, Target, rights_of
from runs.protocol import states
from runs.protocol.asks import Cancel
from runs.protocol.decide import decide
from runs.protocol.tables import TABLES
from runs.words import sentences

from .children import unfinished_children
from .jobs import find


@snapshot()
def cancel(actor: Actor, job_id: str) -> dict[str, Any]:
    """The preview of docs/http.md. Raises as `jobs.find`.

    `would` (status), `out_now` (the step), `held` (how many steps would not start), `children` (how many are
    unfinished), `worker`, `allowed` (the decision on `cancel`), `sentence`.
    """
    now = clock()
    job = find(actor, job_id, now)
    out = Step.objects.get(job=job, ordinal=job.position) if job.unsettled_since else None
    children = unfinished_children([job]).get(job.pk, 0)
    verdict = rights_of(actor, now).judge(Action.CANCEL, Target.of(job), now=now)
    would = _would(job, now)
    return {
        "would": would,
        "out_now": out and _out(out),
        "held": _held(job),
        "children": children,
        "worker": _worker(job, now),
        "allowed": {
            "allowed": verdict.allowed,
            "code": verdict.code,
            "reason": "" if verdict.allowed else _(SENTENCES[verdict.code]),
            "change": "" if verdict.allowed else _(WAYS[verdict.code]),
        },
        "sentence": _sentence(would, out, job.dispatch == "marked", _held(job), children),
    }


def _would(job: Job, now: datetime) -> str:
    """The status that the protocol's own table gives to a cancel of this job as it stands."""
    seen = states.Job(
        n_steps=job.n_steps,
        marked=job.dispatch == "marked",
        digest=job.spec_digest,
        admitted=job.admitted,
        control=states.Control(job.control),
        result=states.Result(job.result),
    )
    ask = Cancel(event_id="preview", spec_digest=job.spec_digest)
    return decide(TABLES["cancel"], states.World(now, seen), ask).row.status


def _out(step: Step) -> dict[str, Any]:
    return {
        "ordinal": step.ordinal,
        "label": step.label,
        "tool": step.tool,
        "target": step.target,
        "state": step.state,
        "dispatched_at": as_text(step.dispatched_at) if step.dispatched_at else None,
    }


def _held(job: Job) -> int:
    """Pending steps: by the cursor, those behind it, and the one at it when nothing was handed out."""
    return job.n_steps - job.position - (job.cur not in ("pending", "ok"))


def _worker(job: Job, now: datetime) -> dict[str, Any] | None:
    if not job.holder or job.lease_expires_at is None:
        return None
    beat = as_text(job.heartbeat_at) if job.heartbeat_at else None
    return {"name": job.holder, "live": now < job.lease_expires_at, "last_heartbeat": beat}


def _sentence(would: str, out: Step | None, marked: bool, held: int, children: int) -> str:
    if would == "already_requested":
        return _("Nothing would change: a cancel of this job was accepted before.")
    if would == "too_late":
        return _("Nothing would change: this job has already ended.")
    later = ngettext("%(n)d step would not start.", "%(n)d steps would not start.", held) % {"n": held}
    if out is not None and marked and out.state == "inflight" and out.dispatched_at is None:
        now_out = _("“%(label)s” is with its worker, not marked as sent; a cancel now would hold it.")
        now_out = now_out % {"label": out.label}
    elif out is not None:
        now_out = _("“%(label)s” is out now and may still happen.") % {"label": out.label}
    elif children:
        now_out = _("Nothing of this job is out.")
    else:
        now_out = _("Nothing of this job is out, so the stop would be confirmed at once.")
    below = ngettext(
        "%(n)d child is unfinished and goes on.", "%(n)d children are unfinished and go on.", children
    )
    parts = [now_out, later if held else "", below % {"n": children} if children else ""]
    return sentences(*parts)
