"""What a remembered refusal means to the person whose form met it: it changed while they looked."""

from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from runs.commands import Answer
from runs.words import sentences

from . import looks
from .shapes import Notice

TEXTS: dict[str, str | Promise] = {
    "already_settled": lazy(
        "The step has an outcome meanwhile. If yours differs, the step is now marked as disputed."
    ),
    "still_claimed": lazy(
        "Its worker still holds this step. Revoke the claim first, or wait for the lease to end."
    ),
    "waiting": lazy("An outcome is waiting for a second person. Nothing else can be recorded until then."),
    "not_evidence": lazy("Finding nothing is not a refusal. Record what you saw; the step stays unknown."),
    "not_reserved": lazy("This step is not out any more, so there is no outcome to record."),
    "not_admitted": lazy("This is a tombstone: no step was or will be sent."),
    "already_requested": lazy("Somebody else requested the cancel first. Asking twice changes nothing."),
    "too_late": lazy("A cancel was requested, or the job has ended: there is nothing left to hold back."),
    "already_paused": lazy("Somebody else paused it first."),
    "not_paused": lazy("Somebody else resumed it first."),
    "no_claim": lazy("No worker holds a claim any more."),
    "already_decided": lazy("Somebody decided this entry meanwhile."),
    "expired": lazy("The entry was older than 24 hours, and ended."),
    "superseded": lazy("The step changed after this was entered, so it needs a fresh look."),
    "not_disputed": lazy("The dispute is closed already."),
    "event_conflict": lazy(
        "This form was sent before with other content, and that stands. "
        "Look at the job; sending it once more records it besides."
    ),
    "spec_conflict": lazy("The job has another list of steps than this page showed."),
}


def notice(answer: Answer) -> Notice:
    """Says what was not done, and why; what the person wrote is kept."""
    text = str(TEXTS.get(answer.status, answer.status))
    return Notice(
        _("Nothing was changed by this."), sentences(text, _("Your text is kept.")), token="pending"
    )


def stale(at: datetime) -> Notice:
    """The step changed after the form was opened; nothing was sent to the ledger."""
    lead = _("This changed at %(at)s while you looked.") % {"at": looks.clock(at)}
    text = _("Nothing was recorded. Look at the job; your text is kept, and can be sent again.")
    return Notice(lead, text, token="pending")
