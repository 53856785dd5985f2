"""The jobs above and below a job: each with what was asked of it and what became of it, and which of them its
stop waits for."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from runs.models import Job
from runs.queries.family import Relative
from runs.queries.job_page import JobPage

from .shapes import Chip, Link


def related(found: JobPage) -> dict[str, Any]:
    family = found.family
    return {
        "parent": _link(family.parent) if family.parent else None,
        "below": [_child(each) for each in family.below],
        "note": waits_for(found),
        "more": _("Only the first %(n)d are shown.") % {"n": len(family.below)} if family.more else "",
    }


def waits_for(found: JobPage) -> str:
    """Which unfinished job holds the stop of this one up; empty where none does."""
    if found.shape["control"] != "requested" or not found.shape["children_unfinished"]:
        return ""
    if blocker := found.family.blocker:
        return _("The stop waits for %(job)s, which is unfinished.") % {"job": blocker.row.job_id}
    return _("The stop waits for an unfinished job below it that you may not see.")


def _child(each: Relative) -> dict[str, Any]:
    return {
        "depth": min(each.depth, 8),
        "link": _link(each.row),
        "id": each.row.job_id,
        "control": control_chip(each.row),
        "result": result_chip(each.row),
    }


def _link(row: Job) -> Link:
    return Link(row.title or row.job_id, reverse("job", args=[row.job_id]))


def control_chip(row: Job) -> Chip:
    return {
        "run": Chip(_("Run"), "info", "play"),
        "requested": Chip(_("Cancel requested"), "pending", "octagon-dashed", "dashed"),
        "acknowledged": Chip(_("Stop confirmed"), "still", "octagon-check"),
    }[row.control]


def result_chip(row: Job) -> Chip:
    """Of an open job what its current step is: that may be out, or unknown."""
    if row.result == "open":
        return {
            "inflight": Chip(_("Waiting for answer"), "pending", "dashed-clock", "dashed"),
            "unknown": Chip(_("Unknown"), "unknown", "dashed-question", "dashed"),
        }.get(row.cur, Chip(_("Open"), "still", "clock"))
    if row.disputed:
        return Chip(_("Disputed: reports differ"), "unknown", "differ", "dashed")
    if row.result == "failed":
        return Chip(_("Failed"), "bad", "circle-x")
    return Chip(_("Succeeded"), "ok", "circle-check")
