"""What every page of the admin shares: rows of one's own tenant, closed filters, nothing deleted, and lists
that cost the same however many rows there are."""

from functools import cached_property
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from runs.permissions import visible

from .viewer import viewer_of

MOST = 10_000  #: rows that one can leaf through; whoever wants others searches


class Bounded(Paginator):  # type: ignore[type-arg]
    """Counts no further than one can leaf."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows[:MOST].count())


class Page(admin.ModelAdmin):  # type: ignore[type-arg]
    """A list and a look at each row. `of_tenant`: the path to the tenant that a row belongs to."""

    of_tenant = "tenant_id"
    actions = None
    list_per_page = 50
    list_max_show_all = 0
    show_full_result_count = False
    paginator = Bounded
    sortable_by: ClassVar[tuple[str, ...]] = ()
    ordering: ClassVar[tuple[str, ...]] = ("-pk",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        tenant_id = viewer_of(request).actor.tenant_id
        return super().get_queryset(request).filter(**{self.of_tenant: tenant_id})

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        """No address filters by a column. Django lets it by any of the model's own, so that
        `?secret_hash__startswith=` would read out a hash; only the filters beside a list count."""
        named: Any = self.list_filter
        return lookup in {each.parameter_name for each in named}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ForAuditors(Page):
    """Tells who may what, so it is for those who manage or audit that."""

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_view_permission(request, obj) and viewer_of(request).may_know_people


class OfJobs(Page):
    """Lists what the viewer may see; `prefix` leads from the row to its job. Found by a whole id."""

    prefix = ""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        viewer, rows = viewer_of(request), super().get_queryset(request)
        if not viewer.views_somewhere:
            return rows.none()
        return visible(rows, viewer.actor, viewer.now, prefix=self.prefix)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not viewer_of(request).views_somewhere:
            messages.info(
                request, _("You may view no job of this tenant. Being an administrator gives no right to.")
            )
        return super().changelist_view(request, extra_context)
