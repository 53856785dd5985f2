"""Django admin: what an administrator sets up, and a read-only look at what its viewer may see.

The ledger rules: nothing of a job is added, changed or deleted here, by nobody. Being a superuser gives no
right over any job: without `view` its lists are empty and say why.
"""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _

from runs.ledger import clock
from runs.models import Claim, Job, Proposal, Queue, Receipt, Step, Tombstone, Tool
from runs.permissions import Action, Actor, rights_of, visible


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """Lists what the viewer may see; `prefix` leads from the row to its job."""

    prefix = ""
    list_per_page = 50
    show_full_result_count = False
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        actor = Actor.of_user(request.user)  # type: ignore[arg-type]
        rows = super().get_queryset(request).filter(tenant_id=actor.tenant_id)
        return visible(rows, actor, clock(), prefix=self.prefix)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        now, actor = clock(), Actor.of_user(request.user)  # type: ignore[arg-type]
        if not rights_of(actor, now).anywhere(Action.VIEW, now):
            messages.info(
                request, _("You may view no job of this tenant. Being an administrator gives no right to.")
            )
        return super().changelist_view(request, extra_context)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class JobsAdmin(ReadOnly):
    list_display = ("job_id", "queue", "owner", "control", "result", "created_at", "on_the_board")
    search_fields = ("job_id__startswith",)
    search_help_text = "The beginning of a job id"
    exclude = ("claim_hash",)

    @admin.display(description="board")
    def on_the_board(self, job: Job) -> str:
        return format_html('<a href="{}">{}</a>', reverse("job", args=[job.job_id]), _("open"))


@admin.register(Job)
class JobAdmin(JobsAdmin):
    list_filter = ("control", "result")


@admin.register(Tombstone)
class TombstoneAdmin(JobsAdmin):
    list_display = (
        "job_id",
        "queue",
        "cancel_by",
        "cancel_at",
        "blocked_submits",
        "blocked_at",
        "on_the_board",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(admitted=False)


@admin.register(Step)
class StepAdmin(ReadOnly):
    prefix = "job__"
    list_display = ("job", "ordinal", "label", "tool", "state")
    list_select_related = ("job",)
    list_filter = ("state",)
    exclude = ("attempt", "dispatch_attempt")


@admin.register(Claim)
class ClaimAdmin(ReadOnly):
    prefix = "job__"
    list_display = ("job", "fence", "worker", "cause", "at")
    list_select_related = ("job",)
    exclude = ("token_hash",)


@admin.register(Receipt)
class ReceiptAdmin(ReadOnly):
    prefix = "job__"
    list_display = ("job_ref", "seq", "kind", "status", "actor_name", "at")
    list_filter = ("kind",)
    search_fields = ("event_id__exact",)
    search_help_text = "An event id"


@admin.register(Proposal)
class ProposalAdmin(ReadOnly):
    prefix = "job__"
    list_display = ("job", "ordinal", "outcome", "state", "by", "at")
    list_select_related = ("job", "by")


class OfTenant(admin.ModelAdmin):  # type: ignore[type-arg]
    """What an administrator sets up in its own tenant; never deleted, since jobs name it."""

    exclude = ("tenant",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(tenant_id=request.user.tenant_id)  # type: ignore[union-attr]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        obj.tenant_id = request.user.tenant_id  # type: ignore[union-attr]
        super().save_model(request, obj, form, change)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Queue)
class QueueAdmin(OfTenant):
    list_display = ("name", "id_prefix", "reconcile_needs", "limit_seconds")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return ("name",) if obj else ()


@admin.register(Tool)
class ToolAdmin(OfTenant):
    list_display = ("name", "label", "link_template")
