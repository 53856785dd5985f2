"""The words of each headline (docs/http.md, headline): how it looks, what it says, what staff may tell the customer.

One table for pages, the preview and the Words page. English is the source; other languages come from the
catalogues. `{done}` and `{total}` stand for numbers of steps. It decides nothing: `protocol/headline.py` does.
"""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class Headline:
    """`token` is a colour role, `edge` solid or dashed (not established), `icon` a name in the icon file."""

    code: str
    token: str
    edge: str
    icon: str
    label: Promise | str
    help: Promise | str
    tell: Promise | str = ""  #: empty: nothing needs saying

    def filled(self, text: Promise | str, done: int, total: int) -> str:
        """One of its texts, in the active language, with the numbers of steps that happened and that there are."""
        return str(text).format(done=done, total=total)


HEADLINES: dict[str, Headline] = {
    headline.code: headline
    for headline in (
        Headline(
            "ready",
            "info",
            "solid",
            "play",
            _("Running"),
            _("No cancel has been requested. The next step may start at any time."),
        ),
        Headline(
            "working",
            "info",
            "solid",
            "play-out",
            _("Running; a step is out"),
            _("No cancel has been requested. One step has been handed to its tool and has not answered yet."),
        ),
        Headline(
            "outcome_unknown",
            "unknown",
            "dashed",
            "dashed-question",
            _("Running; outcome of a sent step unknown"),
            _(
                "No cancel has been requested. One step was sent and gave no usable answer: it may or may not have happened. Nothing further starts until that is settled."
            ),
            _("One step of your request was under way and we are checking whether it went through."),
        ),
        Headline(
            "paused",
            "still",
            "solid",
            "pause",
            _("Paused"),
            _("No step is out and none will start until somebody resumes the job. This is not a cancel."),
        ),
        Headline(
            "verifying",
            "pending",
            "dashed",
            "dashed-clock",
            _("Cancel requested; verifying a sent step"),
            _(
                "Nothing new will start. One step was already out when the cancel came; it has not answered and may still happen."
            ),
            _(
                "We have your request to cancel. One step was already under way and we are checking whether it went through. Nothing further will be started."
            ),
        ),
        Headline(
            "verifying_unknown",
            "unknown",
            "dashed",
            "dashed-question",
            _("Cancel requested; outcome of a sent step unknown"),
            _(
                "Nothing new will start. One step was sent and gave no usable answer: it may or may not have happened. Somebody with evidence has to settle it."
            ),
            _(
                "We have your request to cancel. One step was already under way and we are checking whether it went through. Nothing further will be started."
            ),
        ),
        Headline(
            "stopping",
            "pending",
            "dashed",
            "octagon-dashed",
            _("Cancel requested; confirming that nothing is left"),
            _(
                "Nothing new will start and no step of this job is out. The stop is about to be confirmed, or a child job is still unfinished."
            ),
            _("We have your request to cancel and are confirming it. Nothing further will be started."),
        ),
        Headline(
            "stopped",
            "ok",
            "solid",
            "octagon-check",
            _("Stopped; {done} of {total} steps had happened"),
            _(
                "Confirmed: nothing is out and nothing more will start. What had happened before is kept and is not undone."
            ),
            _(
                "Your request has been stopped. {done} of {total} steps had already happened; nothing further will be started."
            ),
        ),
        Headline(
            "completed_despite_cancel",
            "still",
            "solid",
            "circle-check-late",
            _("Completed; the cancel found nothing left to stop"),
            _(
                "The cancel arrived while the last step was out, and that step happened. The work is done and is not undone."
            ),
            _(
                "Your request to cancel reached us while the last step was already on its way. It went through, so the work is complete."
            ),
        ),
        Headline(
            "stopped_after_failure",
            "bad",
            "solid",
            "triangle-octagon",
            _("Failed; cancel confirmed, nothing more will start"),
            _("A step did not happen. Confirmed: nothing is out and nothing more will start."),
            _("Your request has ended: one step did not go through, and nothing further will be started."),
        ),
        Headline(
            "blocked_before_start",
            "still",
            "solid",
            "seal",
            _("Blocked before it started"),
            _(
                "The cancel came before the job. This tombstone refuses exactly that job, whenever it arrives. It undoes nothing."
            ),
            _("Your cancel came before anything started, so nothing was or will be started."),
        ),
        Headline(
            "completed",
            "ok",
            "solid",
            "circle-check",
            _("Completed"),
            _("Every step happened."),
        ),
        Headline(
            "failed",
            "bad",
            "solid",
            "triangle",
            _("Failed"),
            _("A step did not happen, and nothing more will start."),
        ),
        Headline(
            "completed_cancel_too_late",
            "still",
            "solid",
            "circle-check-late",
            _("Completed; the cancel came too late"),
            _("Every step had happened before the cancel arrived. The cancel changed nothing."),
            _(
                "The work was already complete when your request to cancel arrived, so it did not take effect."
            ),
        ),
        Headline(
            "failed_cancel_too_late",
            "bad",
            "solid",
            "triangle",
            _("Failed before the cancel arrived"),
            _("A step did not happen, before the cancel arrived. The cancel changed nothing."),
            _(
                "Your request had already ended without completing when your cancel arrived. Nothing further will be started."
            ),
        ),
    )
}


def sentences(*told: str) -> str:
    """One after another, as the active language sets them; what is empty is left out."""
    text = ""
    for each in filter(None, told):
        text = gettext("%(text)s %(next)s") % {"text": text, "next": each} if text else each
    return text
