"""The forms, and how what a person entered becomes what a command asks. They check what a person can mend;
the command's own bounds stand in runs.protocol and are the last word. Evidence: `evidence_form.py`.
"""

import secrets
from collections.abc import Callable
from typing import Any, ClassVar

import pydantic
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from runs.commands import Answer, do
from runs.errors import Busy, Invalid, TooMany
from runs.permissions import Actor
from runs.protocol import asks

REASONS = (
    lazy("The evidence is not about this step."),
    lazy("The evidence does not show the outcome."),
    lazy("I saw something else there."),
)


def new_event_id() -> str:
    return f"b-{secrets.token_hex(12)}"


class Sent(forms.Form):
    """Every form that records: its event id is minted with it, so sending it twice records it once."""

    #: What the protocol calls a field that has another name here.
    ALIASES: ClassVar[dict[str, str]] = {}
    #: Of the answer that shows its errors.
    status = 422

    event_id = forms.RegexField(r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$", widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        """Browsers send CRLF; the protocol takes newlines only."""
        cleaned = super().clean() or self.cleaned_data
        if "event_id" in self.errors:
            self.add_error(None, _("This form is damaged: open it anew."))
        return {
            name: value.replace("\r\n", "\n").replace("\r", "\n") if isinstance(value, str) else value
            for name, value in cleaned.items()
        }

    def sent(self, actor: Actor, job_id: str, ask: Callable[[], asks.Event]) -> Answer | None:
        """The answer to the command that this valid form asks. None where nothing was kept: the form then
        says which bound it broke."""
        return self.tried(lambda: do(actor, job_id, ask()))

    def tried(self, command: Callable[[], Answer]) -> Answer | None:
        """The same for a command that is about no one job."""
        try:
            return command()
        except pydantic.ValidationError as error:
            for each in error.errors():
                self._blame(str(each["loc"][0]) if each["loc"] else "", each["msg"])
        except Invalid as error:
            for fault in error.errors:
                self._blame(fault.field, fault.message)
        except TooMany as error:
            self.status = error.http
            self.add_error(None, str(error))
        except Busy:
            self.add_error(None, _("The database is busy. Nothing was changed; send it again in a moment."))
        return None

    def _blame(self, field: str, message: str) -> None:
        name = self.ALIASES.get(field, field)
        sentence = message.removeprefix("Value error, ")
        self.add_error(name if name in self.fields else None, _("This text %(fault)s.") % {"fault": sentence})


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
    cascade = forms.BooleanField(required=False, label=lazy("Ask to cancel the unfinished jobs below it too"))

    def ask(self, spec_digest: str) -> asks.Cancel:
        given = self.cleaned_data
        return asks.Cancel(
            event_id=given["event_id"],
            spec_digest=spec_digest,
            cause=given["cause"],
            note=given["note"],
            asked_by=given["asked_by"],
            grace_seconds=given["grace_seconds"],
            cascade=given["cascade"],
        )


class ApproveForm(Sent):
    """What the second person says to it; they may have looked it up themselves."""

    note = forms.CharField(
        required=False,
        max_length=1000,
        label=lazy("I looked it up myself"),
        help_text=lazy("Where you looked and what you saw. It is kept with the approval."),
        widget=forms.Textarea({"rows": 3}),
    )


class DeclineForm(Sent):
    """Why an entry goes back: a reason from the list, in the person's own words, or both."""

    reason = forms.ChoiceField(
        required=False,
        label=lazy("Reason"),
        choices=[
            ("", lazy("In my own words")),
            *((text, text) for text in REASONS),
        ],
    )
    note = forms.CharField(
        required=False, max_length=1000, label=lazy("Note"), widget=forms.Textarea({"rows": 3})
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if not cleaned.get("reason") and not cleaned.get("note", "").strip():
            self.add_error("note", _("Give a reason: from the list, or in your own words."))
        return cleaned

    @property
    def why(self) -> str:
        """As it is kept, in the words of who sent it."""
        given = self.cleaned_data
        return " ".join(filter(None, (given["reason"], given["note"])))


class CloseForm(Sent):
    """What somebody found out about a dispute; on the step that the form was opened for."""

    ordinal = forms.IntegerField(min_value=0, max_value=255, widget=forms.HiddenInput)
    note = forms.CharField(max_length=1000, label=lazy("Note"), widget=forms.Textarea({"rows": 3}))


class OperateForm(CauseForm):
    """Many jobs at once: one cause and one reason for all. `seen`: the digest of the list that was shown."""

    seen = forms.RegexField(r"^[0-9a-f]{64}$", widget=forms.HiddenInput)
    title = forms.CharField(
        required=False,
        max_length=200,
        label=lazy("Title"),
        help_text=lazy("What others find it by."),
    )
    anyhow = forms.BooleanField(required=False, label=lazy("Take the list as it is when I send this"))

    field_order = ("cause", "note", "title", "anyhow")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["note"].required = True
        self.fields["note"].label = _("Reason")
        self.fields["note"].help_text = _("It is kept with the cancel of each job.")


class AbortForm(Sent):
    note = forms.CharField(
        required=False, max_length=1000, label=lazy("Note"), widget=forms.Textarea({"rows": 3})
    )


class ViewForm(forms.Form):
    """A list's filters under a name. Not of the ledger: it may be sent twice."""

    name = forms.CharField(
        max_length=60,
        label=lazy("Name"),
        help_text=lazy("A view of yours with the same name is replaced."),
    )
    shared = forms.BooleanField(required=False, label=lazy("Show it to everybody who sees the whole tenant"))
