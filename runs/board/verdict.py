"""What a job's page says first: the headline and its sentence, the two axes, and what staff may tell the
customer. All of it from the same table of words (runs.words)."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import override

from runs.queries.job_page import JobPage

from . import looks


def verdict(found: JobPage) -> dict[str, Any]:
    shape, words = found.shape, looks.headline(found.shape)
    done, total = looks.happened(shape), len(shape["steps"])
    pending = sum(each["state"] == "pending" for each in shape["steps"])
    return {
        "headline": {
            "code": words.code,
            "token": words.token,
            "edge": looks.edge(shape),
            "icon": words.icon,
            "label": looks.label(shape),
            "short": looks.short_chip(shape, found.waits is not None).label,
            "help": words.filled(words.help, done, total),
        },
        "when": _when(found),
        "step": _step(shape),
        "unsent": shape["unsettled"] is not None and looks.unsent(shape["steps"][shape["unsettled"]], shape),
        "held": pending if looks.held(shape) else 0,
        "done": done,
        "total": total,
        "control": control_track(shape),
        "result": result_track(shape),
        "chips": [looks.chip(shape)] if shape["disputed"] else [],
        "notes": _notes(found),
    }


def _step(shape: dict[str, Any]) -> int | None:
    """The number of the step that the sentence is about: the one that is out, or did not happen."""
    if shape["unsettled"] is not None:
        return int(shape["unsettled"]) + 1
    return next((each["ordinal"] + 1 for each in shape["steps"] if each["state"] == "rejected"), None)


def _when(found: JobPage) -> str:
    """How the step that is out lies to the cancel, in words, where order matters."""
    ordinal, cancel_at = found.shape["unsettled"], found.row.cancel_at
    sent = found.sent_at.get(ordinal) if ordinal is not None else None
    if cancel_at is None or sent is None or found.shape["control"] == "run" or sent > cancel_at:
        return ""
    span = looks.gap((cancel_at - sent).total_seconds())
    return _("Step %(n)d was sent %(span)s before the cancel arrived.") % {"n": ordinal + 1, "span": span}


def control_track(shape: dict[str, Any]) -> list[dict[str, Any]]:
    names = [("run", _("Run")), ("requested", _("Requested")), ("acknowledged", _("Acknowledged"))]
    at = [name for name, _label in names].index(shape["control"])
    coming = "maybe" if shape["control"] == "requested" else ""
    return [
        {"label": label, "mark": "done" if n < at else "on" if n == at else coming, "current": n == at}
        for n, (_name, label) in enumerate(names)
    ]


def result_track(shape: dict[str, Any]) -> list[dict[str, Any]]:
    final = {"succeeded": _("Succeeded"), "failed": _("Failed")}.get(shape["result"])
    track = [{"label": _("Open"), "mark": "done" if final else "on", "current": not final}]
    if final:
        track.append({"label": final, "mark": "on", "current": True})
    elif shape["control"] != "acknowledged":  # else nothing more will start: it stays open
        track.append({"label": _("Succeeded or failed"), "mark": "maybe", "current": False})
    return track


def _notes(found: JobPage) -> list[str]:
    said = []
    if found.shape["disputed"]:
        said.append(
            _(
                "Two sources contradict each other. The outcome stands; tell the customer nothing "
                "until somebody closes the dispute."
            )
        )
    if found.shape["children_unfinished"]:
        said.append(_("Related work started from it is still running."))
    if found.waits:
        said.append(_("%(who)s entered an outcome; it waits for a second person.") % {"who": found.waits.by})
    if found.shape["blocked_submits"]:
        said.append(
            _("The job arrived %(n)d times since and was refused.") % {"n": found.shape["blocked_submits"]}
        )
    return said


def tell(shape: dict[str, Any]) -> dict[str, Any]:
    """What staff may tell the customer: from the same table as the label, in both languages."""
    if shape["disputed"]:
        return {
            "nothing": _("Nothing yet: reports about a step differ, and nobody has closed the dispute."),
            "never": _never(),
        }
    words, done, total = looks.headline(shape), looks.happened(shape), len(shape["steps"])
    said = {}
    for name, language in (("en", "en"), ("zh", "zh-hans")):
        with override(language):
            said[name] = words.filled(words.tell, done, total)
    if not said["en"]:
        return {"nothing": _("Nothing needs saying: nobody asked for a cancel."), "never": []}
    return {**said, "never": _never() if looks.edge(shape) == "dashed" else []}


def _never() -> list[str]:
    """What may not be said while something is not established."""
    return [_("stopped"), _("cancelled"), _("it did not go out")]
