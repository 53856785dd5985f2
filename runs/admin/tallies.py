"""What Insights counts. Of whole queues, so only for who may see those whole; never changed here."""

from typing import Any

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as lazy

from runs.models import Folded, Queue, Spell, Tally
from runs.queries import insights

from .base import ForAuditors, Page
from .filters import by
from .viewer import viewer_of


class CountedPage(Page):
    ordering = ("-at", "-id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        viewer = viewer_of(request)
        queues = Queue.objects.filter(tenant_id=viewer.actor.tenant_id).values_list("name", flat=True)
        seen = insights.whole(viewer.rights, list(queues), viewer.now)
        return super().get_queryset(request).filter(queue__in=seen)


class TallyPage(CountedPage):
    list_display = ("at", "queue", "tool", "asked", "confirmed", "opened", "closed", "fenced", "disputed")


class SpellPage(CountedPage):
    list_display = ("at", "queue", "tool", "kind", "size", "count")
    list_filter = (by("kind", lazy("kind"), ("confirm", "settle", "stood")),)


class FoldedPage(ForAuditors):
    """One row, of all tenants: how far the ledger is counted."""

    list_display = ("at", "receipt", "xid")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return Folded.objects.all()


PAGES: dict[type[Model], Any] = {Tally: TallyPage, Spell: SpellPage, Folded: FoldedPage}
