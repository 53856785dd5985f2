"""Who looked, and who changed accounts and what is set up: kept like what was done. Append-only
(`triggers.py`).

A grant is its own record (`people.py`), a command its receipt (`ledger.py`).
"""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from .people import Tenant, User


class Reading(models.Model):
    """Somebody read the evidence of a job, or took an export away."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="+")
    user = models.ForeignKey(User, models.PROTECT, related_name="+")
    kind = models.CharField(max_length=8)
    job_ref = models.CharField(max_length=128, blank=True, default="")
    #: Of an export: what it was narrowed by.
    filter = models.TextField(blank=True, default="")
    #: Where the request came from; empty where that is not known.
    address = models.CharField(max_length=45, blank=True, default="")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=["evidence", "export"]), name="reading_kind")
        ]
        indexes = [
            models.Index(fields=["tenant", "-at", "-id"], name="reading_newest"),
            models.Index(fields=["user", "job_ref", "-at"], name="reading_of_job"),
        ]


class Alteration(models.Model):
    """An account, a group, a token, a queue, a tool or a cause was made or changed."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="+")
    #: Null for who has the machine.
    by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    what = models.CharField(max_length=32)
    #: Whose, by name: it is still called so when its row is called otherwise.
    object = models.CharField(max_length=260)
    before = models.TextField(blank=True, default="")
    after = models.TextField(blank=True, default="")
    reason = models.CharField(max_length=500, blank=True, default="")
    address = models.CharField(max_length=45, blank=True, default="")
    at = models.DateTimeField()

    class Meta:
        verbose_name, verbose_name_plural = _("alteration"), _("alterations")
        indexes = [models.Index(fields=["tenant", "-at", "-id"], name="alteration_newest")]

    def __str__(self) -> str:
        return f"{self.what} {self.object}"
