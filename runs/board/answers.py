"""What the jobs of a bulk operation were, or would be, answered: in words. A refusal says why."""

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from runs.permissions import SENTENCES

from .shapes import Chip

Sentence = str | Promise

#: By status: label, colour, icon, edge, and a sentence.
ANSWERS: dict[str, tuple[Sentence, str, str, str, Sentence]] = {
    "requested": (
        _("Cancel requested"),
        "pending",
        "dashed-clock",
        "dashed",
        _("What is out may still happen; nothing more will start."),
    ),
    "already_requested": (
        _("Requested before"),
        "still",
        "replay",
        "solid",
        _("A cancel stood already, with its own cause. Nothing was changed."),
    ),
    "too_late": (
        _("Too late"),
        "still",
        "clock",
        "solid",
        _("The job had ended. Nothing was changed."),
    ),
}
#: Refusals that are no right's.
REFUSED: dict[str, Sentence] = {
    "not_found": _("There is no such job that the asker may see."),
    "sealed": _("The generation of this id is sealed: there is no such job, and never will be."),
    "spec_conflict": _("The job has another list of steps than was meant."),
    "spec_required": _("There is no such job."),
    "failed": _("Our own fault: it was not asked. Ask it on its own page."),
}


def chip(status: str) -> Chip:
    label, token, icon, edge, _sentence = ANSWERS.get(status, (_("Refused"), "bad", "lock", "solid", ""))
    return Chip(str(label), token, icon, edge)


def waiting(state: str) -> Chip:
    """Of a job that was not asked: yet, or at all."""
    if state == "open":
        return Chip(gettext("Not asked yet"), "still", "clock")
    return Chip(gettext("Not asked"), "still", "no-entry")


def sentence(status: str) -> str:
    if status in ANSWERS:
        return str(ANSWERS[status][4])
    if status in SENTENCES:
        return gettext(SENTENCES[status])
    return str(REFUSED.get(status, status))
