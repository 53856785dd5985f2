"""Grants and tokens: given and revoked, each with its reason, and never changed."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AdminSplitDateTime
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from runs.errors import FieldError, Invalid
from runs.models import Grant, Queue, Token, User
from runs.permissions import TEMPLATES, Action, Line, Scope, in_queue
from runs.permissions.changing import Change
from runs.permissions.grants import end_grant, write_grants
from runs.permissions.groups import called, groups_of
from runs.permissions.issuing import DAYS, MOST_DAYS, end_token, write_token
from runs.permissions.terms import BARRED
from runs.protocol.states import ActorType

from .base import ForAuditors
from .filters import Life, LifeOfGrant, by, life
from .form import Edited, Reasoned, took
from .viewer import viewer_of


class GroupChoice(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, group: Any) -> str:
        return called(group)


class GrantForm(Reasoned):
    """One right, or those of a template, copied into a row each."""

    template = forms.ChoiceField(
        required=False,
        label=lazy("Template"),
        choices=[("", "–"), *((name, name) for name in TEMPLATES)],
        help_text=lazy("Gives the rights of this list, copied. Those about a queue get the queue below."),
    )
    group = GroupChoice(None, required=False, label=lazy("Group"))
    action = forms.ChoiceField(
        required=False,
        label=lazy("Action"),
        choices=[("", "–"), *((str(each), str(each)) for each in Action)],
    )
    scope = forms.ChoiceField(required=False, label=lazy("Scope"), choices=[("", "–"), *Grant.Scope.choices])
    queue = forms.ChoiceField(required=False, label=lazy("Queue"))
    not_before = forms.SplitDateTimeField(
        required=False,
        label=lazy("Begins"),
        help_text=lazy("Empty: now."),
        widget=AdminSplitDateTime,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        fields["user"].queryset = User.objects.filter(tenant_id=self.actor.tenant_id).order_by("name")
        fields["group"].queryset = groups_of(self.actor.tenant_name).order_by("name")
        fields["queue"].choices = [("", "–"), *((name, name) for name in queues_of(self.actor.tenant_id))]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if bool(cleaned.get("user")) == bool(cleaned.get("group")):
            self.add_error("group", _("A person, a service account or a group: one of them."))
        if not cleaned.get("template") and not (cleaned.get("action") and cleaned.get("scope")):
            self.add_error("scope", _("Choose a template, or an action and its scope."))
        return cleaned

    def _post_clean(self) -> None:
        """The rows are made and checked by the organ: one form may give several."""


class GrantPage(ForAuditors, Edited):
    list_display = ("subject", "action", "effect", "reaches", "now", "expires_at", "reason", "granted_by")
    list_select_related = ("user", "group", "granted_by")
    list_filter = (
        LifeOfGrant,
        by("action", lazy("action"), Action),
        by("effect", lazy("effect"), Grant.Effect.values),
        by("scope", lazy("scope"), Scope),
    )
    search_fields = ("user",)
    search_help_text = lazy("The whole name of a person, a service account or a group")
    button = lazy("Revoke")
    given = ("user", "group", "template", "action", "effect", "scope", "queue", "owner", "job")
    kept = ("subject", "action", "effect", "reaches", "not_before", "expires_at", "reason")
    history = ("granted_by", "granted_at", "revoked_at", "revoked_by")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        actor = viewer_of(request).actor
        users = User.objects.filter(tenant_id=actor.tenant_id, name=search_term)
        groups = groups_of(actor.tenant_name).filter(name=f"{actor.tenant_name}/{search_term}")
        subject = Q(user__in=list(users)) | Q(group__in=list(groups))
        return queryset.filter(subject) if search_term else queryset, False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or obj.revoked_at is None)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return [*self.given, "not_before", "expires_at", "because"]
        revoking = ["because"] if self.has_change_permission(request, obj) else []
        return [*self.kept, *self.history, *revoking]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return (*self.kept, *self.history) if obj else ()

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, form=Reasoned if obj else GrantForm, **kwargs)

    def write(self, change: Change, obj: Any, given: dict[str, Any], new: bool) -> None:
        if not new:
            took(obj, end_grant(change, obj.pk))
            return
        subject = given["user"] or given["group"]
        times = {"not_before": given["not_before"], "expires_at": given["expires_at"]}
        rows = write_grants(change, subject, self._lines(given), reason=given["because"], **times)
        took(obj, rows[0])

    def _lines(self, given: dict[str, Any]) -> list[Line]:
        if not given["template"]:
            named = {name: given[name] for name in ("queue", "owner", "job")}
            allows = given["effect"] == Grant.Effect.ALLOW
            return [Line(Action(given["action"]), Scope(given["scope"]), allows=allows, **named)]
        lines = TEMPLATES[given["template"]]
        if not given["queue"] and any(line.scope is Scope.QUEUE for line in lines):
            raise Invalid(FieldError("queue", _("This template is about a queue: which one?")))
        return in_queue(given["queue"], lines)

    @admin.display(description=lazy("who"))
    def subject(self, grant: Grant) -> str:
        return called(grant.group) if grant.group else str(grant.user)

    @admin.display(description=lazy("reaches"))
    def reaches(self, grant: Grant) -> str:
        return f"{grant.get_scope_display()} {grant.queue or grant.owner or grant.job}".strip()

    @admin.display(description=lazy("now"))
    def now(self, grant: Grant) -> Any:
        return life(grant)


class TokenForm(Reasoned):
    actions = forms.MultipleChoiceField(
        label=lazy("Actions"),
        choices=[(str(each), str(each)) for each in Action if BARRED.get(each) is not ActorType.SERVICE],
        widget=forms.CheckboxSelectMultiple,
        help_text=lazy("At most what the account itself may do."),
    )
    queues = forms.MultipleChoiceField(
        required=False,
        label=lazy("Queues"),
        widget=forms.CheckboxSelectMultiple,
        help_text=lazy("None chosen: all that the account reaches."),
    )
    days = forms.IntegerField(label=lazy("Days"), initial=DAYS, min_value=1, max_value=MOST_DAYS)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        accounts = User.objects.filter(tenant_id=self.actor.tenant_id, kind=User.Kind.SERVICE)
        fields["user"].queryset = accounts.order_by("name")
        fields["queues"].choices = [(name, name) for name in queues_of(self.actor.tenant_id)]

    def _post_clean(self) -> None:
        """The row is made and checked by the organ."""


class TokenPage(ForAuditors, Edited):
    """The token itself is on the page that answers its making, and nowhere else, ever."""

    of_tenant = "user__tenant_id"
    list_display = ("prefix", "user", "actions_", "queues_", "now", "created_at", "expires_at")
    list_select_related = ("user",)
    list_filter = (Life,)
    search_fields = ("user",)
    search_help_text = lazy("The whole name of a service account")
    button = lazy("Revoke")
    kept = ("prefix", "user", "actions_", "queues_", "created_at", "expires_at", "revoked_at")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return queryset.filter(user__name=search_term) if search_term else queryset, False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or obj.revoked_at is None)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ["user", "actions", "queues", "days", "because"]
        return [*self.kept, *(["because"] if self.has_change_permission(request, obj) else [])]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.kept if obj else ()

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, form=Reasoned if obj else TokenForm, **kwargs)

    def write(self, change: Change, obj: Any, given: dict[str, Any], new: bool) -> None:
        if not new:
            end_token(change, obj.pk)
            return
        actions = [Action(word) for word in given["actions"]]
        made, text = write_token(change, change.own(given["user"]), actions, given["queues"], given["days"])
        took(obj, made)
        obj.text = text

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Shown in the answer itself: a redirect would have to keep it somewhere. Nobody on the way may."""
        context = {
            **self.admin_site.each_context(request),
            "title": _("A new token for %(name)s") % {"name": obj.user},
            "opts": self.opts,
            "text": obj.text,
            "token": obj,
        }
        return TemplateResponse(
            request, "admin/runs/token/made.html", context, headers={"Cache-Control": "no-store"}
        )

    @admin.display(description=lazy("actions"))
    def actions_(self, token: Token) -> str:
        return " ".join(token.actions)

    @admin.display(description=lazy("queues"))
    def queues_(self, token: Token) -> str:
        return " ".join(token.queues) or str(_("all"))

    @admin.display(description=lazy("now"))
    def now(self, token: Token) -> Any:
        return life(token)


def queues_of(tenant_id: int) -> list[str]:
    names = Queue.objects.filter(tenant_id=tenant_id).order_by("name").values_list("name", flat=True)
    return list(names)


PAGES: dict[type[Model], Any] = {Grant: GrantPage, Token: TokenPage}
