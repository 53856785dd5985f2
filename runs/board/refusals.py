"""What a remembered refusal means to the person whose form met it: it changed while they looked."""

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from runs.commands import Answer

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
    "too_late": lazy("The job had already ended; nothing was changed."),
    "no_claim": lazy("No worker holds a claim any more."),
    "not_disputed": lazy("The dispute is closed already."),
    "already_decided": lazy("Somebody has decided about this entry already."),
    "expired": lazy("The entry is more than 24 hours old and has ended."),
    "superseded": lazy("The step changed since the entry was made: it needs a fresh look."),
    "event_conflict": lazy("This form was already sent with other content. Open it anew to send this."),
    "spec_conflict": lazy("The job has another list of steps than this page showed."),
}


def notice(answer: Answer) -> Notice:
    """Says what was not done, and why; what the person wrote is kept."""
    text = str(TEXTS.get(answer.status, answer.status))
    return Notice(_("This was not recorded."), f"{text} {_('Your text is kept.')}", token="pending")
