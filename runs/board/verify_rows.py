"""A row of the Verify queue: one job, its step that is out, what is known, and the one thing to do. A row
that has left the queue stays where it was and says why."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from runs.models import Proposal
from runs.permissions import Action as Right
from runs.permissions import Target
from runs.protocol.canonical import idempotency_key
from runs.queries.verify_queue import Row

from . import looks
from .door import Reader
from .shapes import Action


def row_of(row: Row, reader: Reader, limits: dict[str, int], tools: dict[str, str]) -> dict[str, Any]:
    """As templates/runs/verify/_row.html prints it; `limits` and `tools` as `choices` gives them."""
    shape, job = row.shape, row.job
    base = {
        "job": job.job_id,
        "seq": shape["seq"],
        "url": reverse("job", args=[job.job_id]),
        "title": job.title or job.job_id,
        "customer": shape["owner"],
        "more": 0,
    }
    if shape["unsettled"] is None or shape["control"] != "requested":
        return {**base, **_gone(row, reader, tools)}
    age = looks.age(job.unsettled_since or job.updated_at, reader.now, limits.get(job.queue, 0))
    return {**base, "age": age, **_waiting(row, tools), **_to_do(row, reader)}


def _waiting(row: Row, tools: dict[str, str]) -> dict[str, Any]:
    shape, step = row.shape, row.shape["steps"][row.shape["unsettled"]]
    sub = looks.line(shape)
    if row.waiting_by:
        sub = _("%(line)s; %(who)s entered an outcome") % {"line": sub, "who": row.waiting_by}
    return {
        "step": step["label"],
        "system": tools.get(step["tool"], step["tool"]),
        "gap": _gap(row),
        "key": idempotency_key(shape["tenant"], shape["job_id"], step["ordinal"]),
        "chip": looks.short_chip(shape, bool(row.waiting_by)),
        "sub": sub,
        "gone": False,
    }


def _to_do(row: Row, reader: Reader) -> dict[str, Any]:
    """By the right alone; the page that opens says what else stands against it."""
    if row.waits:
        return _to_review(row.waits, row, reader)
    if not reader.rights.judge(Right.RECONCILE, Target.of(row.job), now=reader.now).allowed:
        return {"cannot": {"icon": "lock", "text": _("You may look, not record")}}
    url = reverse("outcome", args=[row.job.job_id, row.shape["unsettled"]])
    return {"action": Action(_("Record outcome"), url, key="e")}


def _to_review(entry: Proposal, row: Row, reader: Reader) -> dict[str, Any]:
    """Somebody else's entry is reviewed, by who may; one's own waits for another."""
    own = entry.by_id == reader.actor.user_id
    if own or not reader.rights.judge(Right.APPROVE, Target.of(row.job), now=reader.now).allowed:
        icon = "lock" if own else "people"
        return {"cannot": {"icon": icon, "text": _("Waiting for a second person")}}
    return {"action": Action(_("Review entry"), reverse("approval", args=[entry.proposal_id]), key="e")}


def _gone(row: Row, reader: Reader, tools: dict[str, str]) -> dict[str, Any]:
    shape = row.shape
    step = shape["steps"][row.left or 0]
    settled = step["settled_by"]
    words = {"label": looks.label(shape), "who": settled["actor"]["name"] if settled else ""}
    by = _("%(label)s, by %(who)s") if settled else "%(label)s"
    return {
        "age": looks.ended(row.job.updated_at, reader.now),
        "step": step["label"],
        "system": tools.get(step["tool"], step["tool"]),
        "key": idempotency_key(shape["tenant"], shape["job_id"], step["ordinal"]),
        "chip": looks.step_chip(shape, step),
        "sub": _("%(what)s; kept in place until you refresh") % {"what": by % words},
        "gone": True,
    }


def _gap(row: Row) -> str:
    if row.job.cancel_at is None or row.sent_at is None or row.sent_at > row.job.cancel_at:
        return ""
    seconds = (row.job.cancel_at - row.sent_at).total_seconds()
    return _("%(span)s before cancel") % {"span": looks.gap(seconds)}
