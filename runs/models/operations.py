"""Bulk operations: a frozen list of jobs to be asked the same, and what each was answered. Not what a job is.

What was asked never changes, and each job of the list is answered once (`triggers.py`).
"""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from .people import Tenant, Token, User


class Operation(models.Model):
    """One request for many jobs, worked off by the settle loop. Its receipt has no job."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="operations")
    operation_id = models.CharField(max_length=64)
    event_id = models.CharField(max_length=128)
    command = models.CharField(max_length=16)
    title = models.CharField(max_length=200, blank=True, default="")
    cause = models.CharField(max_length=128)
    note = models.TextField(blank=True, default="")
    #: The filter as it was asked, canonical JSON; empty where the jobs were named.
    filter = models.TextField(blank=True, default="")
    jobs = models.PositiveIntegerField()
    #: For whom each job is judged at its turn, and by which token.
    by = models.ForeignKey(User, models.PROTECT, related_name="+")
    token = models.ForeignKey(Token, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField()

    state = models.CharField(max_length=8, default="open")
    #: When the last job was answered, or the rest was aborted, and by whom.
    ended_at = models.DateTimeField(null=True, blank=True)
    aborted_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        verbose_name, verbose_name_plural = _("operation"), _("operations")
        constraints = [
            models.UniqueConstraint(fields=["tenant", "operation_id"], name="operation_once"),
            models.CheckConstraint(condition=Q(command="cancel"), name="operation_command"),
            models.CheckConstraint(condition=Q(jobs__lte=10_000), name="operation_size"),
            models.CheckConstraint(
                condition=Q(state="open", ended_at__isnull=True, aborted_by__isnull=True)
                | Q(state="done", ended_at__isnull=False, aborted_by__isnull=True)
                | Q(state="aborted", ended_at__isnull=False, aborted_by__isnull=False),
                name="operation_state",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "-created_at", "-id"], name="operation_newest"),
            models.Index(fields=["id"], condition=Q(state="open"), name="operation_open"),
        ]

    def __str__(self) -> str:
        return self.title or self.operation_id


class OperationJob(models.Model):
    """One job of the list, by its id: there may be none, or none that the asker may see."""

    operation = models.ForeignKey(Operation, models.PROTECT, related_name="list")
    position = models.PositiveIntegerField()
    job_ref = models.CharField(max_length=128)
    #: The status of its answer, or the code of its refusal; empty until it was answered.
    status = models.CharField(max_length=32, blank=True, default="")
    at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name, verbose_name_plural = _("job of an operation"), _("jobs of operations")
        constraints = [
            models.UniqueConstraint(fields=["operation", "position"], name="operation_job_position"),
            models.UniqueConstraint(fields=["operation", "job_ref"], name="operation_job_once"),
            models.CheckConstraint(
                condition=Q(status="", at__isnull=True) | (~Q(status="") & Q(at__isnull=False)),
                name="operation_job_answered",
            ),
        ]
        indexes = [
            models.Index(fields=["operation", "position"], condition=Q(status=""), name="operation_job_left"),
        ]
