"""What was changed here, by whom and why; and how often people were refused. Only to be read."""

from typing import Any

from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.db.models import Model
from django.utils.translation import gettext_lazy as lazy

from runs.models import Alteration, Drill, Reading, Refusal, SavedView
from runs.permissions import Action

from .base import ForAuditors
from .filters import by


class LogPage(ForAuditors):
    of_tenant = "user__tenant_id"
    list_display = ("action_time", "user", "action_flag", "content_type", "object_repr", "change_message")
    list_select_related = ("user", "content_type")
    list_filter = (by("action_flag", lazy("action"), (ADDITION, CHANGE)),)


class RefusalPage(ForAuditors):
    list_display = ("minute", "user", "action", "job_id", "code", "count")
    list_select_related = ("user",)
    list_filter = (by("action", lazy("action"), Action),)
    ordering = ("-minute", "-id")


class ReadingPage(ForAuditors):
    list_display = ("at", "user", "address", "kind", "job_ref", "filter")
    list_select_related = ("user",)
    list_filter = (by("kind", lazy("kind"), ("evidence", "export")),)
    ordering = ("-at", "-id")


class AlterationPage(ForAuditors):
    list_display = ("at", "by", "address", "what", "object", "before", "after", "reason")
    list_select_related = ("by",)
    ordering = ("-at", "-id")


class DrillPage(ForAuditors):
    list_display = ("asked_at", "user", "sent_at", "heard_at")
    list_select_related = ("user",)
    ordering = ("-asked_at", "-id")


class SavedViewPage(ForAuditors):
    list_display = ("name", "user", "page", "query", "shared")
    list_select_related = ("user",)
    ordering = ("-id",)


PAGES: dict[type[Model], Any] = {
    LogEntry: LogPage,
    Refusal: RefusalPage,
    Reading: ReadingPage,
    Alteration: AlterationPage,
    Drill: DrillPage,
    SavedView: SavedViewPage,
}
