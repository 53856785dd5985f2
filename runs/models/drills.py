"""Drills: canary signals, which stop nothing, and who heard them."""

from django.db import models
from django.db.models import Q

from .people import Tenant, User


class Drill(models.Model):
    """One canary for one service account: when it was asked for, went out on a socket, and was said back."""

    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="drills")
    user = models.ForeignKey(User, models.CASCADE, related_name="drills")
    drill_id = models.CharField(max_length=32, unique=True)
    asked_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    heard_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(heard_at__isnull=True) | Q(sent_at__isnull=False),
                name="drill_heard_what_was_sent",
            )
        ]
        indexes = [
            models.Index(fields=["user"], condition=Q(sent_at__isnull=True), name="drill_waiting"),
            models.Index(fields=["user", "-asked_at"], name="drill_newest"),
        ]
