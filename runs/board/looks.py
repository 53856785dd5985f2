"""States in the words and colours that people see (docs: the Words page). Dashed is not established, solid
is, double is established and approved by a second person."""

import json
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from runs.protocol.headline import headline as headline_code
from runs.protocol.states import Control, Result, State
from runs.words import HEADLINES, Headline

from .shapes import Age, Chip

NEAR = 40  #: per cent of the target, from which on an age is coloured


def headline(job: dict[str, Any]) -> Headline:
    return HEADLINES[job["headline"]]


def happened(job: dict[str, Any]) -> int:
    return sum(step["state"] == "ok" for step in job["steps"])


def label(job: dict[str, Any]) -> str:
    words = headline(job)
    return words.filled(words.label, happened(job), len(job["steps"]))


def unfilled(text: Promise | str) -> str:
    """One of the headline's texts where no job is meant: "k of n"."""
    return str(text).format(done="k", total="n")


def edge(job: dict[str, Any]) -> str:
    """Dashed while something is not established, and a dispute is just that."""
    return "dashed" if job["disputed"] else headline(job).edge


def disputed() -> Chip:
    return Chip(_("Disputed: reports differ"), "unknown", "differ", "dashed")


def chip(job: dict[str, Any]) -> Chip:
    """The full label; a dispute stands before everything, because nothing may be told then."""
    words = headline(job)
    return disputed() if job["disputed"] else Chip(label(job), words.token, words.icon, words.edge)


def short_chip(job: dict[str, Any], waiting: bool = False) -> Chip:
    """For a row whose sub-line gives the control axis."""
    if job["disputed"]:
        return disputed()
    if waiting:
        return Chip(_("Awaiting second person"), "pending", "people", "dashed")
    if job["headline"] in ("verifying_unknown", "outcome_unknown"):
        return Chip(_("Outcome unknown"), "unknown", "dashed-question", "dashed")
    if job["headline"] == "verifying":
        return Chip(_("Verifying sent step"), "pending", "dashed-clock", "dashed")
    return chip(job)


def step_chip(
    job: dict[str, Any], step: dict[str, Any], waiting: bool = False, approved: bool = False
) -> Chip:
    if step["disputed"]:
        return disputed()
    edge = "double" if approved else "solid"
    match step["state"]:
        case "ok":
            return Chip(_("Happened"), "ok", "circle-check", edge)
        case "rejected":
            return Chip(_("Did not happen"), "bad", "circle-x", edge)
        case "unknown" if waiting:
            return Chip(_("Awaiting second person"), "pending", "people", "dashed")
        case "unknown":
            return Chip(_("Unknown"), "unknown", "dashed-question", "dashed")
        case "inflight":
            return Chip(_("Waiting for answer"), "pending", "dashed-clock", "dashed")
    return Chip(_("Held"), "still", "no-entry") if held(job) else Chip(_("Not sent"), "still", "clock")


def unsent(step: dict[str, Any], job: dict[str, Any]) -> bool:
    """Whether it was handed out and lacks the mark without which its worker may not send it."""
    return bool(job["dispatch"] == "marked" and step["state"] == "inflight" and not step["dispatched_at"])


def held(job: dict[str, Any]) -> bool:
    """Whether its pending steps will not start any more."""
    return bool(job["control"] != "run" or job["result"] != "open")


def line(job: dict[str, Any]) -> str:
    """A row's mandatory sub-line: the control axis, then what became of the steps."""
    too_late = job["cancel"] and job["cancel"]["too_late"]
    running = _("cancel came too late") if too_late else _("no cancel requested")
    control = {"run": running, "requested": _("cancel requested"), "acknowledged": _("stop confirmed")}
    asked = control[job["control"]]
    return _("%(control)s; %(steps)s") % {"control": asked, "steps": counts(job)}


def counts(job: dict[str, Any]) -> str:
    """ "2 happened, 1 did not, 1 unknown, 3 held"; what is zero is left out."""
    states = [step["state"] for step in job["steps"]]
    out, pending = states.count("inflight"), states.count("pending")
    parts = [
        (states.count("ok"), ngettext("%(n)d happened", "%(n)d happened", states.count("ok"))),
        (states.count("rejected"), ngettext("%(n)d did not", "%(n)d did not", states.count("rejected"))),
        (states.count("unknown"), ngettext("%(n)d unknown", "%(n)d unknown", states.count("unknown"))),
        (out, ngettext("%(n)d waiting for its answer", "%(n)d waiting for their answers", out)),
        (
            pending,
            ngettext("%(n)d held", "%(n)d held", pending)
            if held(job)
            else ngettext("%(n)d not sent", "%(n)d not sent", pending),
        ),
    ]
    return _(", ").join(text % {"n": count} for count, text in parts if count)


def span(seconds: float) -> str:
    """47 min; 3 h 26 min; 3 d 04 h. Under a minute in seconds."""
    whole = max(0, int(seconds))
    if whole < 60:
        return _("%(s)d s") % {"s": whole}
    minutes = whole // 60
    if minutes < 60:
        return _("%(m)d min") % {"m": minutes}
    if minutes < 24 * 60:
        return _("%(h)d h %(m)02d min") % {"h": minutes // 60, "m": minutes % 60}
    return _("%(d)d d %(h)02d h") % {"d": minutes // 1440, "h": minutes % 1440 // 60}


def gap(seconds: float) -> str:
    """As `span`, but tenths of a second tell under a minute: it is about which came first."""
    return _("%(s).1f s") % {"s": seconds} if seconds < 60 else span(seconds)


def age(since: datetime, now: datetime, target_seconds: int) -> Age:
    waited = (now - since).total_seconds()
    share = 100 if not target_seconds else min(100, int(100 * waited / target_seconds))
    tone = "over" if waited >= target_seconds else "near" if share >= NEAR else ""
    return Age(span(waited), since, _same_day(since, now), tone, share, target_seconds)


def ended(at: datetime, now: datetime) -> Age:
    """The age of what waits no longer."""
    return Age(_("settled"), at, _same_day(at, now))


def _same_day(one: datetime, other: datetime) -> bool:
    return timezone.localtime(one).date() == timezone.localtime(other).date()


def clock(at: datetime) -> str:
    """The time of day, in the reader's zone."""
    return timezone.localtime(at).strftime("%H:%M")


def moment(text: str) -> datetime:
    """A time as the API and the receipts write it."""
    return datetime.fromisoformat(text)


def as_text(value: Any) -> str:
    """A value of `params`: texts as they are, anything else as the JSON it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def settled_as(shape: dict[str, Any], ordinal: int, outcome: str) -> dict[str, Any]:
    """The job as it would read once this step has this outcome and nothing else is out: for "will then
    read"."""
    steps = [{**step, "state": outcome} if step["ordinal"] == ordinal else step for step in shape["steps"]]
    done = all(step["state"] == "ok" for step in steps)
    result = Result.FAILED if outcome == "rejected" else Result.SUCCEEDED if done else Result.OPEN
    control = Control(shape["control"])
    if control == Control.REQUESTED and not shape["children_unfinished"]:
        control = Control.ACKNOWLEDGED
    current = State.REJECTED if outcome == "rejected" else State.OK if done else State.PENDING
    late = bool(shape["cancel"] and shape["cancel"]["too_late"])
    code = headline_code(True, control, result, current, shape["paused_at"] is not None, late)
    return {**shape, "steps": steps, "headline": code, "disputed": False}
