"""What somebody saw in the other system, as evidence: the form of Record outcome. It becomes a reconcile, or
an observation where they still cannot tell; whether that settles anything is the protocol's to say.
"""

import re
from datetime import datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import override

from runs.models import Tool
from runs.protocol import asks
from runs.protocol.evidence import Evidence

from .forms import Sent
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
    ("", lazy("Choose…")),
    ("console", lazy("The system's own console or mailbox")),
    ("list", lazy("A list or report from the provider")),
    ("e-mail", lazy("An e-mail from the provider")),
    ("phone", lazy("By telephone")),
    ("other", lazy("Somewhere else")),
)


class EvidenceForm(Sent):
    ALIASES: ClassVar[dict[str, str]] = {"text": "saw"}

    version = forms.CharField(widget=forms.HiddenInput, required=False)
    outcome = forms.ChoiceField(
        choices=[(value, label) for value, label, _hint in OUTCOMES], label=lazy("What happened")
    )
    kind = forms.ChoiceField(choices=list(KINDS.items()), required=False, label=lazy("Kind of evidence"))
    where = forms.ChoiceField(choices=WHERE, label=lazy("Where you looked"))
    looked_at = forms.DateTimeField(
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

    def __init__(
        self, *args: Any, tool: Tool | None, sent_at: datetime | None, zone: str, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.tool, self.sent_at = tool, sent_at
        self.fields["looked_at"].label = _("When you looked (%(zone)s)") % {"zone": zone}

    def clean_looked_at(self) -> datetime:
        looked: datetime = self.cleaned_data["looked_at"]
        if looked > timezone.now() + timedelta(minutes=1):
            raise ValidationError(_("You cannot have looked in the future."))
        if self.sent_at and looked < self.sent_at.replace(second=0, microsecond=0):
            raise ValidationError(_("That is before the step was sent: what you saw was not its outcome."))
        return looked

    def clean_link(self) -> str:
        link: str = self.cleaned_data["link"]
        if not link:
            return link
        parts = urlsplit(link)
        if parts.scheme not in ("http", "https"):
            raise ValidationError(_("A link begins with http:// or https://."))
        if "\\" in link or "@" in parts.netloc:  # read differently by a browser than by us
            raise ValidationError(_("A link may hold no backslash, and no name or password before its host."))
        hosts = self.tool.allowed_hosts.lower().split() if self.tool else []
        if hosts and parts.hostname not in hosts:
            raise ValidationError(
                _("For this system a link must lead to: %(hosts)s.") % {"hosts": ", ".join(hosts)}
            )
        return link

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        outcome, kinds = cleaned.get("outcome"), CHOICES.get(cleaned.get("outcome", ""), ())
        if len(kinds) == 1:
            cleaned["kind"] = kinds[0]
        elif outcome == "rejected" and cleaned.get("kind") in CHOICES["open"]:
            self.add_error("kind", _("Finding nothing is not a refusal. Choose “Still cannot tell”."))
        elif kinds and cleaned.get("kind") not in kinds:
            self.add_error("kind", _("Say what kind of evidence this is."))
        if outcome in ("ok", "rejected") and not cleaned.get("reference"):
            self.add_error("reference", _("Needed: what the other system calls it."))
        self._check_reference(cleaned)
        return cleaned

    def _check_reference(self, cleaned: dict[str, Any]) -> None:
        pattern, reference = self.tool.reference_pattern if self.tool else "", cleaned.get("reference")
        if not pattern or not reference or cleaned.get("reference_anyway"):
            return
        try:
            looks_right = re.fullmatch(pattern, reference)
        except re.error:
            return  # an administrator's slip; a pattern warns, it does not refuse
        if not looks_right:
            self.add_error(
                "reference",
                _("References of this system look different. Correct it, or say why it is right."),
            )
            self.add_error("reference_anyway", _("Say why, or correct the reference above."))

    def evidence(self) -> Evidence:
        """What was entered, as one labelled text that reads the same for ever, and for every reader."""
        given = self.cleaned_data
        with override("en"):
            where = str(dict(WHERE)[given["where"]])
        lines = [
            f"Where: {where}",
            f"Looked: {given['looked_at'].strftime('%Y-%m-%d %H:%M %z')}",
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
