"""What a person says of a job that is not to start: its id and its list of steps, field by field or as JSON.

First it is only read back, with its digest; with that digest sent along it becomes a command.
"""

from typing import Any, ClassVar

import pydantic
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from runs.errors import Invalid
from runs.protocol import asks
from runs.protocol.fields import JobId
from runs.protocol.json_door import parse
from runs.protocol.spec import Spec

from .forms import CauseForm

JOB_ID: pydantic.TypeAdapter[str] = pydantic.TypeAdapter(JobId)
TYPED = 4  #: characters of the id that are typed once more


class BlockForm(CauseForm):
    ALIASES: ClassVar[dict[str, str]] = {"spec.queue": "queue", "spec": "steps"}

    job_id = forms.CharField(label=lazy("Job id"), max_length=140)
    queue = forms.ChoiceField(label=lazy("Queue"), required=False)
    owner = forms.CharField(label=lazy("Customer"), required=False, max_length=200)
    marked = forms.BooleanField(label=lazy("Its worker marks each step before it is sent"), required=False)
    steps = forms.CharField(
        label=lazy("Steps"),
        required=False,
        help_text=lazy("One label a line, in their order: another order is another job."),
        widget=forms.Textarea({"rows": 4}),
    )
    whole = forms.CharField(
        label=lazy("Or the whole spec, as JSON"),
        required=False,
        help_text=lazy("As its caller will submit it. It counts instead of the fields above."),
        widget=forms.Textarea({"rows": 6, "spellcheck": "false"}),
    )
    digest = forms.CharField(required=False, widget=forms.HiddenInput)
    typed = forms.CharField(required=False, max_length=TYPED, label=lazy("The last 4 characters of the id"))

    def __init__(self, *args: Any, queues: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["queue"].choices = [(name, name) for name in queues]  # type: ignore[attr-defined]
        self.fields["cause"].required = False
        self.spec: Spec | None = None

    def clean_job_id(self) -> str:
        try:
            return JOB_ID.validate_python(self.cleaned_data["job_id"])
        except pydantic.ValidationError:
            raise forms.ValidationError(
                _("1 to 128 of A-Z a-z 0-9 . _ : -, and maybe @ and a generation.")
            ) from None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        self.spec = self._spec(cleaned)
        if self.confirmed(cleaned):
            if not cleaned.get("cause"):
                self.add_error("cause", _("Choose why."))
            if cleaned.get("typed") != cleaned.get("job_id", "")[-TYPED:]:
                self.add_error("typed", _("Type the last 4 characters of the id, as they stand there."))
        return cleaned

    def confirmed(self, cleaned: dict[str, Any]) -> bool:
        """Sent for what the page had read back, and for nothing else."""
        return self.spec is not None and cleaned.get("digest") == self.spec.digest

    def _spec(self, cleaned: dict[str, Any]) -> Spec | None:
        where = "whole" if cleaned.get("whole", "").strip() else "steps"
        try:
            if where == "whole":
                return Spec.model_validate(parse(cleaned["whole"].encode()))
            labels = [line.strip() for line in cleaned.get("steps", "").splitlines() if line.strip()]
            return Spec.model_validate(
                {
                    "queue": cleaned.get("queue", ""),
                    "owner": cleaned.get("owner", ""),
                    "dispatch": "marked" if cleaned.get("marked") else "unmarked",
                    "steps": labels,
                }
            )
        except pydantic.ValidationError as error:
            for each in error.errors()[:5]:
                path = ".".join(str(part) for part in each["loc"])
                self.add_error(where, f"{path}: {each['msg'].removeprefix('Value error, ')}")
        except Invalid as error:
            self.add_error(where, str(error))
        return None

    def ask(self) -> asks.Cancel:
        given = self.cleaned_data
        return asks.Cancel(
            event_id=given["event_id"], spec=self.spec, cause=given["cause"], note=given["note"]
        )
