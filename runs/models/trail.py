"""Who looked: reading evidence, and exporting, are kept like what was done. Append-only (`triggers.py`)."""

from django.db import models
from django.db.models import Q

from .people import Tenant, User


class Reading(models.Model):
    """Somebody read the evidence of a job, or took an export away."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="+")
    user = models.ForeignKey(User, models.PROTECT, related_name="+")
    kind = models.CharField(max_length=8)
    job_ref = models.CharField(max_length=128, blank=True, default="")
    #: Of an export: what it was narrowed by.
    filter = models.TextField(blank=True, default="")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=["evidence", "export"]), name="reading_kind")
        ]
        indexes = [
            models.Index(fields=["tenant", "-at", "-id"], name="reading_newest"),
            models.Index(fields=["user", "job_ref", "-at"], name="reading_of_job"),
        ]
