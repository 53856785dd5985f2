"""Jobs, steps, claims, receipts, proposals, deliveries: what its viewer may see of them, only to be read."""

import json
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as lazy

from runs import readings
from runs.models import Alert, AlertSent, Check, Claim, Delivery, Job, Proposal, Receipt, Step, Tombstone
from runs.permissions import visible
from runs.protocol.states import Control, Result
from runs.protocol.tables import TABLES

from .base import OfJobs
from .filters import InQueue, by
from .viewer import viewer_of

PROPOSALS = ("open", "approved", "declined", "withdrawn", "expired", "superseded")


def on_the_board(job_id: str) -> str:
    return format_html('<a href="{}">{}</a>', reverse("job", args=[job_id]), lazy("open"))


class JobsPage(OfJobs):
    ordering = ("-created_at", "-id")
    search_fields = ("job_id",)
    search_help_text = lazy("A job id, whole")
    exclude = ("claim_hash",)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return queryset.filter(job_id=search_term) if search_term else queryset, False

    def view_on_site(self, job: Job) -> str:
        return reverse("job", args=[job.job_id])

    @admin.display(description=lazy("board"))
    def board(self, job: Job) -> str:
        return on_the_board(job.job_id)


class JobPage(JobsPage):
    list_display = ("job_id", "queue", "owner", "control", "result", "created_at", "board")
    list_filter = (by("control", lazy("control"), Control), by("result", lazy("result"), Result), InQueue)


class TombstonePage(JobsPage):
    list_display = ("job_id", "queue", "cancel_by", "cancel_at", "blocked_submits", "blocked_at", "board")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(admitted=False)


class PartOfJob(OfJobs):
    """Rows that belong to a job; found by its whole id."""

    prefix = "job__"
    list_select_related: ClassVar[Any] = ("job",)
    search_fields = ("job",)
    search_help_text = lazy("A job id, whole")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return queryset.filter(self.named(request, search_term)) if search_term else queryset, False

    def named(self, request: HttpRequest, term: str) -> Q:
        """The job's key is looked up first: two columns of one table are then found by their indexes."""
        named = Job.objects.filter(tenant_id=viewer_of(request).actor.tenant_id, job_id=term)
        return Q(job_id=named.values_list("pk", flat=True).first())

    def view_on_site(self, row: Any) -> str:
        return reverse("job", args=[row.job.job_id])

    @admin.display(description=lazy("board"))
    def board(self, row: Any) -> str:
        return on_the_board(row.job.job_id)


class HoldsEvidence(PartOfJob):
    """Whoever opens a row reads its evidence, and that is kept, like on the board."""

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        row = super().get_object(request, object_id, from_field)
        if row is not None:
            actor = viewer_of(request).actor
            readings.of_evidence(actor.tenant_id, actor.user_id, row.job.job_id, [{"body": self.body(row)}])
        return row

    def body(self, row: Any) -> dict[str, Any]:
        raise NotImplementedError


class StepPage(PartOfJob):
    list_display = ("job", "ordinal", "label", "tool", "state", "board")
    exclude = ("attempt", "dispatch_attempt")


class ClaimPage(PartOfJob):
    list_display = ("job", "fence", "worker", "cause", "at", "board")
    exclude = ("token_hash",)


class ReceiptPage(HoldsEvidence):
    ordering = ("-at", "-id")
    list_display = ("job_ref", "seq", "kind", "status", "actor_name", "at", "board")
    list_filter = (by("kind", lazy("kind"), sorted(TABLES)),)
    search_help_text = lazy("A job id or an event id, whole")

    def named(self, request: HttpRequest, term: str) -> Q:
        return super().named(request, term) | Q(event_id=term)

    def body(self, row: Any) -> dict[str, Any]:
        return json.loads(row.body)  # type: ignore[no-any-return]


class ProposalPage(HoldsEvidence):
    list_display = ("job", "ordinal", "outcome", "state", "by", "at", "board")
    list_select_related = ("job", "by")
    list_filter = (by("state", lazy("state"), PROPOSALS),)

    def body(self, row: Any) -> dict[str, Any]:
        return {"evidence": row.evidence}


class DeliveryPage(OfJobs):
    """An event id is as visible as its receipt."""

    list_display = ("event_id", "replays", "conflicts", "last_at")
    ordering = ("-last_at", "-id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        viewer = viewer_of(request)
        rows = super(OfJobs, self).get_queryset(request)
        if not viewer.views_somewhere:
            return rows.none()
        receipts = Receipt.objects.filter(tenant_id=viewer.actor.tenant_id, event_id__isnull=False)
        seen = visible(receipts, viewer.actor, viewer.now, prefix="job__")
        return rows.filter(event_id__in=seen.values("event_id"))


class CheckPage(PartOfJob):
    list_display = ("job", "ordinal", "verifier", "tries", "answer", "answered_at", "due_at", "board")


class AlertPage(PartOfJob):
    ordering = ("-at", "-id")
    list_display = ("job", "ordinal", "times", "limit_seconds", "since", "at", "board")


class AlertSentPage(OfJobs):
    of_tenant, prefix = "alert__tenant_id", "alert__job__"
    list_display = ("alert", "channel", "state", "tries", "due_at", "ended_at", "trouble")
    list_select_related: ClassVar[Any] = ("alert__job",)
    list_filter = (by("state", lazy("state"), AlertSent.State.values),)


PAGES: dict[type[Model], type[OfJobs]] = {
    Job: JobPage,
    Tombstone: TombstonePage,
    Step: StepPage,
    Claim: ClaimPage,
    Receipt: ReceiptPage,
    Proposal: ProposalPage,
    Delivery: DeliveryPage,
    Check: CheckPage,
    Alert: AlertPage,
    AlertSent: AlertSentPage,
}
