"""A change made here: one form, one transaction that holds the tenant's lock alone, one reason, kept in the
admin's own log beside what was changed."""

from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from runs.errors import CancelboardError, FieldError, Invalid
from runs.permissions import Actor, changing
from runs.permissions.changing import Change
from runs.protocol.fields import no_control_characters

from .base import Page
from .viewer import viewer_of

SECRET = ("password", "again")  #: fields whose values no log repeats


class Reasoned(forms.ModelForm):  # type: ignore[type-arg]
    """Every form here: why, and what a refused try was told."""

    actor: ClassVar[Actor]
    refusal: ClassVar[CancelboardError | None] = None

    because = forms.CharField(label=lazy("Reason"), max_length=500, help_text=lazy("Kept in the history."))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for name, value in cleaned.items():
            if isinstance(value, str) and name not in SECRET:
                cleaned[name] = self._plain(name, value.replace("\r\n", "\n"))
        for each in getattr(self.refusal, "errors", ()):
            self.add_error(each.field if each.field in self.fields else None, each.message)
        if self.refusal is not None and not isinstance(self.refusal, Invalid):
            self.add_error(None, str(self.refusal))
        return cleaned

    def _plain(self, name: str, value: str) -> str:
        try:
            return no_control_characters(value, "\n\t")
        except ValueError as error:
            raise ValidationError({name: _("This text %(fault)s.") % {"fault": error}}) from None


class Edited(Page):
    """`write(change, obj, given, new)` does it, by the organ that rules over it; a refusal is shown on the
    form. Who may: `manage_grants`, whatever Django's own permissions say, and those too."""

    form = Reasoned
    button: Any = lazy("Save")
    save_on_top = False
    change_form_template = "admin/runs/change_form.html"

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Without Django's windows to add and change what a field names: each has a page of its own."""
        field: Any = super().formfield_for_dbfield(db_field, request, **kwargs)
        for also in ("add", "change", "delete", "view"):
            setattr(field.widget, f"can_{also}_related", False)
        return field

    def write(self, change: Change, obj: Any, given: dict[str, Any], new: bool) -> None:
        raise NotImplementedError

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super(Page, self).has_add_permission(request) and viewer_of(request).manages

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super(Page, self).has_change_permission(request, obj) and viewer_of(request).manages

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        shape: Any = super().get_form(request, obj, change, **kwargs)
        shape.actor = viewer_of(request).actor
        shape.refusal = getattr(request, "refusal", None)
        return shape

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        more = {**(extra_context or {}), "button": self.button if object_id else lazy("Save")}
        if request.method != "POST":
            return super().changeform_view(request, object_id, form_url, more)
        try:
            with changing(viewer_of(request).actor, request.POST.get("because", "")) as change:
                request.change = change  # type: ignore[attr-defined]
                return super().changeform_view(request, object_id, form_url, more)
        except CancelboardError as refusal:  # all of it is rolled back; the same form says why
            request.refusal = refusal  # type: ignore[attr-defined]
            return super().changeform_view(request, object_id, form_url, more)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        assert not hasattr(request, "refusal")
        under_way: Change = request.change  # type: ignore[attr-defined]
        if not change and hasattr(obj, "tenant_id"):
            obj.tenant_id = under_way.actor.tenant_id
        self.write(under_way, obj, form.cleaned_data, not change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """`write` has done all of it."""

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> Any:
        """Which values were given, and why. A secret is named, never told."""
        named = [
            name if name in SECRET else f"{name}={_told(form.cleaned_data.get(name))}"
            for name in form.changed_data
            if name != "because"
        ]
        return f"{form.cleaned_data['because']} [{', '.join(named) or self.button}]"

    def response_post_save_add(self, request: HttpRequest, obj: Any) -> HttpResponseRedirect:
        return HttpResponseRedirect(reverse(f"admin:{obj._meta.app_label}_{obj._meta.model_name}_changelist"))


def _told(value: Any) -> str:
    if isinstance(value, str | int | bool | None):
        return str(value)
    return " ".join(str(each) for each in value) if hasattr(value, "__iter__") else str(value)


def checked(obj: Model) -> None:
    """Save a row that keeps the model's own rules. Raises Invalid."""
    try:
        obj.full_clean()
    except ValidationError as error:
        faults = error.message_dict.items()
        raise Invalid(*(FieldError(name, " ".join(told)) for name, told in faults)) from None
    obj.save()


def took(obj: Model, written: Model) -> None:
    """What Django goes on with is what was written."""
    obj.__dict__.update(written.__dict__)
