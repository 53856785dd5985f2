"""Queues, tools, causes: what an administrator sets up in its own tenant, and never deletes: jobs name it.

A queue changes under the tenant's lock like a right: decisions look at how many people an outcome needs, and
at whose ids are whose.
"""

import re
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib import admin, messages
from django.db.models import Model
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from runs import verifiers
from runs.causes import BUILT_IN, NEVER_RETIRED
from runs.errors import FieldError, Invalid
from runs.models import Cause, Queue, Tenant, Tool
from runs.permissions.changing import Change
from runs.protocol.fields import ID
from runs.queries.approvals import queues_without_approver

from .base import Page
from .form import Edited, Reasoned, checked
from .viewer import viewer_of

#: How an unknown step of the tool is looked up: label and help.
LOOKUP: dict[str, tuple[Any, Any]] = {
    "verifier": (
        lazy("Verifier"),
        lazy(
            "Who asks the receiver about unknown steps. What it finds settles them, without a second person."
        ),
    ),
    "lookup_url": (
        lazy("Look-up address"),
        lazy(
            "Of “http”: where the receiver tells of {key} in JSON. Its host is in CANCELBOARD_LOOKUP_HOSTS."
        ),
    ),
    "lookup_field": (lazy("Field of the answer"), lazy("A path with dots, such as data.0.status.")),
    "lookup_ok": (lazy("Words for “it happened”"), lazy("With commas between them.")),
    "lookup_rejected": (
        lazy("Words for “it did not happen”"),
        lazy(
            "Only words by which the receiver says that it refused this key for good. Not found is none: "
            "the effect may still come."
        ),
    ),
    "lookup_value": (lazy("Field kept as the value"), lazy("The receiver's own number, say; may be empty.")),
}
PLACES = {"key", "target", "job_id"}  #: what a link template may name in braces


class QueuePage(Edited):
    ordering = ("name",)

    def get_list_display(self, request: HttpRequest) -> Any:
        """`second_person` is in red where nobody could be it."""
        lonely = queues_without_approver(viewer_of(request).actor.tenant_id, viewer_of(request).now)

        @admin.display(description=lazy("second person"))
        def second_person(queue: Queue) -> Any:
            if queue.reconcile_needs == Queue.Needs.ONE:
                return "–"
            nobody = format_html('<strong class="bad">{}</strong>', _("nobody may approve"))
            return nobody if queue.name in lonely else _("somebody may approve")

        return ("name", "id_prefix", "reconcile_needs", second_person, "limit_seconds")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ["name", "id_prefix", "reconcile_needs", "limit_seconds", *_because(self, request, obj)]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("name",) if obj else ()

    def write(self, change: Change, obj: Any, given: dict[str, Any], new: bool) -> None:
        for name in ("name", "id_prefix"):
            if (value := getattr(obj, name)) and not re.fullmatch(ID, value):
                raise Invalid(
                    FieldError(name, _("1 to 128 of A-Z a-z 0-9 . _ : -, the first a letter or digit."))
                )
        _keep(change, obj, new)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **shown: Any) -> Any:
        obj = shown.get("obj")
        viewer = viewer_of(request)
        if obj and obj.name in queues_without_approver(viewer.actor.tenant_id, viewer.now):
            told = _("Outcomes here need two people, and nobody may approve. Give somebody the right to.")
            messages.error(request, told)
        return super().render_change_form(request, context, *args, **shown)


class ToolPage(Edited):
    list_display = ("name", "label", "link_template")
    ordering = ("name",)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        shown = ["name", "label", "where_to_look", "link_template", "allowed_hosts", "reference_pattern"]
        return [*shown, *LOOKUP, *_because(self, request, obj)]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if db_field.name == "verifier":
            nobody = ("", lazy("Nobody: a person looks"))
            field = forms.ChoiceField(
                choices=[nobody, *((name, name) for name in verifiers.choices())], required=False
            )
        if field is not None and db_field.name in LOOKUP:
            field.label, field.help_text = LOOKUP[db_field.name]
        return field

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("name",) if obj else ()

    def write(self, change: Change, obj: Any, given: dict[str, Any], new: bool) -> None:
        _check_link(obj.link_template)
        _check_lookup(obj)
        try:
            re.compile(obj.reference_pattern)
        except re.error as error:
            told = _("This is no regular expression: %(fault)s.") % {"fault": error}
            raise Invalid(FieldError("reference_pattern", told)) from None
        _keep(change, obj, new)


def _check_link(template: str) -> None:
    """Raises Invalid for what would not lead to a page of the web."""
    if not template:
        return
    if urlsplit(template).scheme not in ("http", "https") or not urlsplit(template).netloc:
        raise Invalid(FieldError("link_template", _("A link begins with http:// or https://.")))
    if set(re.findall(r"\{(.*?)\}", template)) - PLACES:
        raise Invalid(FieldError("link_template", _("Only {key}, {target} and {job_id} are filled in.")))


def _check_lookup(tool: Tool) -> None:
    """Raises Invalid for a look-up that could not be made, or could settle nothing."""
    if tool.verifier != verifiers.HTTP:
        return
    if fault := verifiers.fault(tool.lookup_url):
        raise Invalid(FieldError("lookup_url", str(fault)))
    ok, rejected = verifiers.words(tool.lookup_ok), verifiers.words(tool.lookup_rejected)
    if not ok and not rejected:
        raise Invalid(FieldError("lookup_ok", _("Without any word, no look-up could settle a step.")))
    if ok & rejected:
        raise Invalid(FieldError("lookup_rejected", _("A word can't mean both.")))


class CauseForm(Reasoned):
    """A new cause of the tenant's own; or a built-in one, to be retired."""

    built_in = forms.ChoiceField(required=False, label=lazy("Retire a built-in cause"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        codes = [code for code in BUILT_IN if code not in NEVER_RETIRED]
        fields["built_in"].choices = [("", lazy("No: a new cause"))] + [
            (c, f"{c}: {BUILT_IN[c][0]}") for c in codes
        ]
        for name in ("code", "short", "text"):
            fields[name].required = False

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if code := cleaned.get("built_in"):
            short, text = BUILT_IN[code]
            return {**cleaned, "code": code, "short": str(short), "text": str(text)}
        for name in ("code", "short", "text"):
            if name not in self.errors and not cleaned.get(name):
                self.add_error(name, _("A new cause needs this."))
        if cleaned.get("code") in BUILT_IN:
            self.add_error("code", _("This one is built in."))
        elif cleaned.get("code") and not re.fullmatch(ID, cleaned["code"]):
            self.add_error("code", _("1 to 128 of A-Z a-z 0-9 . _ : -, the first a letter or digit."))
        return cleaned


class CausePage(Edited):
    """Added and retired; a code in use is never renamed, reworded or deleted."""

    list_display = ("code", "short", "text", "retired_at")
    ordering = ("code",)
    button = lazy("Retire")
    kept = ("code", "short", "text", "retired_at")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or obj.retired_at is None)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ["code", "short", "text", "built_in", "because"]
        return [*self.kept, *_because(self, request, obj)]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.kept if obj else ()

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, form=Reasoned if obj else CauseForm, **kwargs)

    def write(self, change: Change, obj: Any, given: dict[str, Any], new: bool) -> None:
        if not new or given["built_in"]:
            obj.retired_at = change.now
        _keep(change, obj, new)


def _keep(change: Change, obj: Any, new: bool) -> None:
    """Save it by its own rules, and write into the trail what it was and is. Raises Invalid."""
    before = "" if new else _as_text(type(obj).objects.get(pk=obj.pk))
    checked(obj)
    change.keep(f"{obj._meta.model_name}: {'made' if new else 'changed'}", str(obj), before, _as_text(obj))


def _as_text(obj: Any) -> str:
    shown = [field for field in obj._meta.fields if field.name not in ("id", "tenant")]
    given = {field.name: getattr(obj, field.attname) for field in shown}
    return ", ".join(f"{name} {value}" for name, value in given.items() if value)


class TenantPage(Page):
    """Its own, to be looked at."""

    of_tenant = "pk"
    list_display = ("name", "sealed_generation")


def _because(page: Edited, request: HttpRequest, obj: Any) -> list[str]:
    may = page.has_change_permission(request, obj) if obj else page.has_add_permission(request)
    return ["because"] if may else []


PAGES: dict[type[Model], Any] = {Queue: QueuePage, Tool: ToolPage, Cause: CausePage, Tenant: TenantPage}
