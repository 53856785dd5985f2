"""Bulk operations and archives, only to be read: for who sees the whole tenant, and one's own operations."""

from typing import Any, ClassVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as lazy

from runs.models import Archive, ArchivedJob, Operation, OperationJob

from .base import Page
from .filters import by
from .viewer import viewer_of


class OfWholeTenant(Page):
    """`own`: the column of who asked for the row."""

    own = ""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows, viewer = super().get_queryset(request), viewer_of(request)
        if viewer.views_all:
            return rows
        return rows.filter(**{self.own: viewer.actor.user_id}) if self.own else rows.none()


class OperationPage(OfWholeTenant):
    own = "by"
    list_display = ("operation_id", "title", "command", "jobs", "state", "by", "created_at")
    list_select_related: ClassVar[Any] = ("by",)
    list_filter = (by("state", lazy("state"), ("open", "done", "aborted")),)
    ordering = ("-created_at", "-id")


class OperationJobPage(OfWholeTenant):
    of_tenant = "operation__tenant_id"
    list_display = ("operation", "position", "job_ref", "status", "at")
    list_select_related: ClassVar[Any] = ("operation",)


class ArchivePage(OfWholeTenant):
    list_display = ("digest", "sealed_generation", "jobs", "receipts", "at")


class ArchivedJobPage(OfWholeTenant):
    list_display = ("job_ref", "archive", "seq", "head_digest")
    list_select_related: ClassVar[Any] = ("archive",)


PAGES: dict[type[Model], type[OfWholeTenant]] = {
    Operation: OperationPage,
    OperationJob: OperationJobPage,
    Archive: ArchivePage,
    ArchivedJob: ArchivedJobPage,
}
