"""The forms, and how what a person entered becomes what a command asks. They check what a person can mend;
the command's own bounds stand in runs.protocol and are the last word.
"""

import re
import secrets
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from runs.models import Tool
from runs.protocol import asks
from runs.protocol.evidence import Evidence

from .timeline import KINDS

#: Which kinds of evidence a person may give for what they say happened (docs/protocol.md, section 6).
CHOICES = {
    "ok": ("receiver_confirmed",),
    "rejected": ("receiver_refused", "receiver_sealed"),
    "open": ("not_found", "timed_out", "ambiguous", "other"),
}
OUTCOMES = (
    ("ok", lazy("It happened"), lazy("The other system shows it.")),
    (
        "rejected",
        lazy("It did not happen"),
        lazy("The other system refused it, or will refuse this key from now on."),
    ),
    (
        "open",
        lazy("Still cannot tell"),
        lazy("Found nothing yet, or it is not clear. The step stays unknown."),
    ),
)
WHERE = (
    ("console", lazy("The system's own console or mailbox")),
    ("list", lazy("A list or report from the provider")),
    ("e-mail", lazy("An e-mail from the provider")),
    ("phone", lazy("By telephone")),
    ("other", lazy("Somewhere else")),
)


def one_line_breaks(text: str) -> str:
    """Browsers send CRLF; the protocol takes newlines only."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class Sent(forms.Form):
    """Every form that records: its event id is minted with it, so sending it twice records it once."""

    version = forms.CharField(widget=forms.HiddenInput, required=False)
    event_id = forms.RegexField(r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$", widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        return {
            name: one_line_breaks(value) if isinstance(value, str) else value
            for name, value in cleaned.items()
        }


def new_event_id() -> str:
    return f"b-{secrets.token_hex(12)}"


class OutcomeForm(Sent):
    outcome = forms.ChoiceField(
        choices=[(value, label) for value, label, _hint in OUTCOMES], label=lazy("What happened")
    )
    kind = forms.ChoiceField(choices=list(KINDS.items()), required=False, label=lazy("Kind of evidence"))
    where = forms.ChoiceField(choices=WHERE, label=lazy("Where you looked"))
    looked_at = forms.DateTimeField(
        label=lazy("When you looked"),
        widget=forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    reference = forms.CharField(required=False, max_length=200, label=lazy("Reference shown there"))
    reference_anyway = forms.CharField(required=False, max_length=200, label=lazy("Use it anyway, because"))
    printed_at = forms.CharField(
        required=False,
        max_length=100,
        label=lazy("Time shown there"),
        help_text=lazy("As printed, with its zone."),
    )
    saw = forms.CharField(
        min_length=20,
        max_length=2000,
        label=lazy("What you saw"),
        help_text=lazy("One line per thing you saw. At least 20 characters."),
        widget=forms.Textarea({"rows": 4}),
    )
    link = forms.URLField(required=False, max_length=2000, assume_scheme="https", label=lazy("Link"))
    value = forms.CharField(
        required=False,
        max_length=1000,
        label=lazy("Value"),
        help_text=lazy("What the step is to show as its result, when it happened."),
    )

    def __init__(self, *args: Any, tool: Tool | None, sent_at: datetime | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.tool, self.sent_at = tool, sent_at
        self.fields["looked_at"].label = _("When you looked (%(zone)s)") % {
            "zone": timezone.get_current_timezone_name()
        }

    def clean_looked_at(self) -> datetime:
        looked: datetime = self.cleaned_data["looked_at"]
        if looked > timezone.now() + timedelta(minutes=1):
            raise ValidationError(_("You cannot have looked in the future."))
        if self.sent_at and looked < self.sent_at.replace(second=0, microsecond=0):
            raise ValidationError(_("That is before the step was sent: what you saw was not its outcome."))
        return looked

    def clean_link(self) -> str:
        link: str = self.cleaned_data["link"]
        hosts = self.tool.allowed_hosts.split() if self.tool else []
        if link and urlsplit(link).scheme not in ("http", "https"):
            raise ValidationError(_("A link begins with http:// or https://."))
        if link and hosts and urlsplit(link).hostname not in hosts:
            raise ValidationError(
                _("For this system a link must lead to: %(hosts)s.") % {"hosts": ", ".join(hosts)}
            )
        return link

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        outcome, kind = cleaned.get("outcome"), cleaned.get("kind")
        kinds = CHOICES.get(outcome or "", ())
        if outcome and len(kinds) == 1:
            cleaned["kind"] = kinds[0]
        elif outcome and kind not in kinds:
            self.add_error("kind", _("Say what kind of evidence this is."))
        if outcome == "rejected" and kind == "not_found":
            self.add_error("kind", _("Finding nothing is not a refusal. Choose “Still cannot tell”."))
        if outcome in ("ok", "rejected") and not cleaned.get("reference"):
            self.add_error("reference", _("Needed: what the other system calls it."))
        self._check_reference(cleaned)
        return cleaned

    def _check_reference(self, cleaned: dict[str, Any]) -> None:
        pattern, reference = self.tool.reference_pattern if self.tool else "", cleaned.get("reference")
        if not pattern or not reference or cleaned.get("reference_anyway"):
            return
        if not re.fullmatch(pattern, reference):
            self.add_error(
                "reference",
                _("References of this system look different. Correct it, or say why it is right."),
            )
            self.add_error("reference_anyway", _("Say why, or correct the reference above."))

    def evidence(self) -> Evidence:
        """What was entered, as one labelled text that reads the same for ever."""
        given = self.cleaned_data
        lines = [
            f"Where: {dict(WHERE)[given['where']]}",
            f"Looked: {given['looked_at'].astimezone().strftime('%Y-%m-%d %H:%M %z')}",
            given["reference"] and f"Reference: {given['reference']}",
            given["reference_anyway"] and f"Reference kept because: {given['reference_anyway']}",
            given["printed_at"] and f"Time shown: {given['printed_at']}",
            f"Saw: {given['saw']}",
        ]
        text = "\n".join(line for line in lines if line)
        return Evidence(kind=given["kind"], text=text, link=given["link"] or None)

    def ask(self, ordinal: int) -> asks.Event:
        """A reconcile, or an observation where they still cannot tell."""
        given, evidence = self.cleaned_data, self.evidence()
        if given["outcome"] == "open":
            return asks.Observe(event_id=given["event_id"], ordinal=ordinal, evidence=evidence)
        value = given["value"] or given["reference"] if given["outcome"] == "ok" else ""
        return asks.Reconcile(
            event_id=given["event_id"],
            ordinal=ordinal,
            outcome=given["outcome"],
            value=value,
            evidence=evidence,
        )


class CauseForm(Sent):
    """A cause from the list and a note: cancel, pause, resume, revoke."""

    cause = forms.ChoiceField(label=lazy("Cause"))
    note = forms.CharField(
        required=False, max_length=1000, label=lazy("Note"), widget=forms.Textarea({"rows": 3})
    )

    def __init__(self, *args: Any, causes: list[dict[str, Any]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        live = [(cause["code"], cause["short"]) for cause in causes if not cause["retired"]]
        self.fields["cause"].choices = [("", _("Choose…")), *live]  # type: ignore[attr-defined]


class CancelForm(CauseForm):
    asked_by = forms.CharField(
        required=False,
        max_length=200,
        label=lazy("Asked by"),
        help_text=lazy("For whom, in their own words."),
    )
    grace_seconds = forms.IntegerField(
        min_value=0,
        max_value=604_800,
        initial=asks.GRACE_SECONDS,
        label=lazy("Seconds before it is told to abort"),
    )

    def ask(self, spec_digest: str) -> asks.Cancel:
        given = self.cleaned_data
        return asks.Cancel(
            event_id=given["event_id"],
            spec_digest=spec_digest,
            cause=given["cause"],
            note=given["note"],
            asked_by=given["asked_by"],
            grace_seconds=given["grace_seconds"],
        )


class NoteForm(Sent):
    """A note that must be there: closing a dispute, sending an entry back."""

    note = forms.CharField(max_length=1000, label=lazy("Note"), widget=forms.Textarea({"rows": 3}))


class OptionalNoteForm(Sent):
    note = forms.CharField(
        required=False, max_length=1000, label=lazy("Note"), widget=forms.Textarea({"rows": 3})
    )
