"""People and service accounts, and the groups they are in. Made, switched off, put into groups; never
deleted, and nobody changes their own. What they may do are grants: `rights.py`."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import Group
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from runs.errors import FieldError, Invalid
from runs.models import User
from runs.permissions.accounts import Standing, new_password, new_person, service_account, stand
from runs.permissions.changing import Change
from runs.permissions.groups import called, groups_of, write_group

from .base import ForAuditors
from .form import Edited, Reasoned, took
from .viewer import viewer_of


class Groups(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, group: Any) -> str:
        return called(group)


class AccountForm(Reasoned):
    """A password is only ever entered. It is never shown, logged, or sent anywhere."""

    administers = forms.BooleanField(
        required=False, label=lazy("Enters this admin"), help_text=lazy("Gives no right over any job.")
    )
    members_of = Groups(None, required=False, label=lazy("Groups"))
    password = forms.CharField(
        required=False,
        label=lazy("New password"),
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        help_text=lazy("For a person. Ends all of their sessions. Hand it over in person, to be changed."),
    )
    again = forms.CharField(
        required=False,
        label=lazy("New password, again"),
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        people = User.objects.filter(tenant_id=self.actor.tenant_id, kind=User.Kind.PERSON)
        for name in {"sponsor"} & self.fields.keys():
            self.fields[name].queryset = people.order_by("name")  # type: ignore[attr-defined]
        mine = groups_of(self.actor.tenant_name).order_by("name")
        self.fields["members_of"].queryset = mine  # type: ignore[attr-defined]
        if self.instance.pk:
            self.initial["administers"] = self.instance.is_staff
            self.initial["members_of"] = list(mine.filter(user=self.instance))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        password = cleaned.get("password", "")
        if password != cleaned.get("again", ""):
            self.add_error("again", _("The two are not the same."))
        elif password:
            try:
                validate_password(password, self.instance)
            except ValidationError as error:
                self.add_error("password", error)
        return cleaned


class UserPage(ForAuditors, Edited):
    form = AccountForm
    list_display = ("name", "kind", "username", "is_active", "is_staff", "owner_key", "sponsor", "last_login")
    list_select_related = ("sponsor",)
    search_fields = ("name",)
    search_help_text = lazy("The beginning of a name, or of what they sign in with")
    ordering = ("name",)
    fixed = ("kind", "name", "username")
    standing = ("is_active", "owner_key", "sponsor", "administers", "members_of")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        starts = Q(name__startswith=search_term) | Q(username__startswith=search_term)
        return queryset.filter(starts), False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        secret = ["password", "again"] if obj is None or obj.kind == User.Kind.PERSON else []
        if not self.has_change_permission(request, obj):
            return [*self.fixed, "is_active", "owner_key", "sponsor", "is_staff", "groups", "last_login"]
        return [*self.fixed, *self.standing, *secret, *(["last_login"] if obj else []), "because"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return (*self.fixed, "last_login") if obj else ()

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        shape = super().get_form(request, obj, change, **kwargs)
        if obj is None and "username" in shape.base_fields:
            shape.base_fields["username"].required = False
            shape.base_fields["username"].help_text = _("What a person signs in with; empty: the name.")
        return shape

    def write(self, change: Change, obj: Any, given: dict[str, Any], new: bool) -> None:
        if new:
            took(obj, self._made(change, given))
        if given.get("password") and not new:
            new_password(change, obj, given["password"])
        standing = Standing(
            active=given["is_active"],
            owner_key=given["owner_key"],
            sponsor=given["sponsor"],
            administers=given["administers"],
            groups=tuple(given["members_of"]),
        )
        stand(change, obj, standing)

    def _made(self, change: Change, given: dict[str, Any]) -> User:
        name = given["name"]
        if User.objects.filter(tenant_id=change.actor.tenant_id, name=name).exists():
            raise Invalid(FieldError("name", _("Somebody is called that already.")))
        if given["kind"] == User.Kind.PERSON:
            password = given["password"] or None
            return new_person(change, given["username"] or name, name, password=password)
        if given["username"] or given["password"]:
            raise Invalid(FieldError("kind", _("A service account signs in nowhere: it has tokens.")))
        return service_account(change, name, given["sponsor"])


class GroupForm(Reasoned):
    called = forms.CharField(label=lazy("Name"), max_length=100)

    class Meta:
        model = Group
        fields = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["called"] = called(self.instance)


class GroupPage(ForAuditors, Edited):
    form = GroupForm
    list_display = ("called",)
    ordering = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return groups_of(viewer_of(request).actor.tenant_name)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        mine = ["called", "because"] if self.has_change_permission(request, obj) else []
        return [*mine, *(["members"] if obj else [])]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("members",) if obj else ()

    def write(self, change: Change, obj: Any, given: dict[str, Any], new: bool) -> None:
        write_group(change, obj, given["called"])

    @admin.display(description=lazy("name"), ordering="name")
    def called(self, group: Group) -> str:
        return called(group)

    @admin.display(description=lazy("members"))
    def members(self, group: Group) -> str:
        """They join and leave on their own pages."""
        return ", ".join(group.user_set.order_by("name").values_list("name", flat=True)) or "–"


PAGES: dict[type[Model], Any] = {User: UserPage, Group: GroupPage}
