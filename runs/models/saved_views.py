"""Saved views: a list's filters under a name, one's own or shared with the tenant. Nothing of a job."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from .people import Tenant, User


class SavedView(models.Model):
    """`query`: the list's address behind the question mark, in the order of its filters."""

    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="+")
    user = models.ForeignKey(User, models.CASCADE, related_name="saved_views")
    page = models.CharField(max_length=8)
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=1000)
    shared = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name, verbose_name_plural = _("saved view"), _("saved views")
        constraints = [
            models.UniqueConstraint(fields=["user", "page", "name"], name="view_name_once"),
            models.CheckConstraint(condition=Q(page__in=["verify", "jobs"]), name="view_page"),
        ]
        indexes = [models.Index(fields=["tenant", "page", "id"], name="view_of_page")]

    def __str__(self) -> str:
        return self.name
