"""Filters beside the lists. Their choices are written down: asking the table for its values would read all of
it, and tell of other tenants."""

from collections.abc import Iterable
from typing import Any

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as lazy

from runs.ledger import clock
from runs.models import Queue

from .viewer import viewer_of


def by(column: str, title: Any, values: Iterable[Any]) -> type[SimpleListFilter]:
    """A filter by one column that holds one of these words."""
    words = [str(value) for value in values]

    class Filter(SimpleListFilter):
        parameter_name = column

        def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
            return [(word, word) for word in words]

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
            return queryset.filter(**{column: self.value()}) if self.value() in words else queryset

    Filter.title = title
    return Filter


class InQueue(SimpleListFilter):
    title = lazy("queue")
    parameter_name = "queue"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        tenant_id = viewer_of(request).actor.tenant_id
        names = Queue.objects.filter(tenant_id=tenant_id).order_by("name").values_list("name", flat=True)
        return [(name, name) for name in names]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        known = {word for word, _ in self.lookup_choices}
        return queryset.filter(queue=self.value()) if self.value() in known else queryset


class Life(SimpleListFilter):
    """Of a grant or a token: whether it counts now. `starts` names the column of its beginning."""

    title = lazy("now")
    parameter_name = "now"
    starts = ""

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, Any]]:
        future = [("future", lazy("not yet begun"))] if self.starts else []
        return [("live", lazy("live")), *future, ("expired", lazy("expired")), ("revoked", lazy("revoked"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        now, kept = viewer_of(request).now, Q(revoked_at=None)
        begun = Q(**{f"{self.starts}__lte": now}) if self.starts else Q()
        condition = {
            "live": kept & begun & (Q(expires_at=None) | Q(expires_at__gt=now)),
            "future": kept & ~begun,
            "expired": kept & Q(expires_at__lte=now),
            "revoked": Q(revoked_at__isnull=False),
        }.get(self.value() or "")
        return queryset if condition is None else queryset.filter(condition)


class LifeOfGrant(Life):
    starts = "not_before"


def life(row: Any) -> Any:
    """The same in a word, for a row."""
    now = clock()
    if row.revoked_at is not None:
        return lazy("revoked")
    if row.expires_at is not None and row.expires_at <= now:
        return lazy("expired")
    return lazy("not yet begun") if getattr(row, "not_before", now) > now else lazy("live")
