"""What an administrator sets up: queues, tools and causes of a tenant. Not who may use them."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from .people import Tenant


class Queue(models.Model):
    """Where jobs are filed, and how outcomes in it are reviewed."""

    class Needs(models.TextChoices):
        ONE = "1", _("one person")
        TWO = "2", _("two people")
        TWO_FOR_REJECTED = "2 for did-not-happen", _("two people for “did not happen”")

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="queues")
    name = models.CharField(max_length=128)
    #: Job ids that begin with this belong to this queue alone; empty: none do.
    id_prefix = models.CharField(max_length=64, blank=True, default="")
    reconcile_needs = models.CharField(max_length=24, choices=Needs.choices, default=Needs.ONE)
    #: Seconds after which an unsettled step is past target, and is alerted.
    limit_seconds = models.PositiveIntegerField(default=3600)

    class Meta:
        verbose_name, verbose_name_plural = _("queue"), _("queues")
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="queue_once_in_tenant"),
            models.UniqueConstraint(
                fields=["tenant", "id_prefix"], condition=~Q(id_prefix=""), name="queue_prefix_once"
            ),
            models.CheckConstraint(
                condition=Q(reconcile_needs__in=["1", "2", "2 for did-not-happen"]),
                name="queue_reconcile_needs",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Tool(models.Model):
    """What reviewers are told about a step's tool: where to look, and what a reference looks like there."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="tools")
    name = models.CharField(max_length=200)
    label = models.CharField(max_length=200, blank=True, default="")
    #: Plain text for a person: the places to look, one a line.
    where_to_look = models.TextField(blank=True, default="")
    #: A URL in which {key}, {target} and {job_id} are filled in (percent-encoded).
    link_template = models.CharField(max_length=2000, blank=True, default="")
    #: Hosts an evidence link may name, one a line; empty: any.
    allowed_hosts = models.TextField(blank=True, default="")
    #: A regular expression that a reference should match; a mismatch warns, it does not refuse.
    reference_pattern = models.CharField(max_length=200, blank=True, default="")

    #: Who looks up what became of its unknown steps: a registered verifier, `http`, or nobody but people.
    verifier = models.CharField(max_length=64, blank=True, default="", db_default="")
    #: Of `http`: the address that answers for {key}.
    lookup_url = models.CharField(max_length=2000, blank=True, default="", db_default="")
    #: A field of its JSON answer, by a path with dots, and the words in it that settle a step.
    lookup_field = models.CharField(max_length=200, blank=True, default="status", db_default="status")
    lookup_ok = models.CharField(max_length=500, blank=True, default="", db_default="")
    lookup_rejected = models.CharField(max_length=500, blank=True, default="", db_default="")
    #: The field that is kept as the step's value; empty: none.
    lookup_value = models.CharField(max_length=200, blank=True, default="", db_default="")

    class Meta:
        verbose_name, verbose_name_plural = _("tool"), _("tools")
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="tool_once_in_tenant")]

    def __str__(self) -> str:
        return self.label or self.name


class Cause(models.Model):
    """A cause of the tenant's own, or a built-in one that it retired (docs/protocol.md, section 8)."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="causes")
    code = models.CharField(max_length=64)
    short = models.CharField(max_length=80)
    text = models.CharField(max_length=500)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name, verbose_name_plural = _("cause"), _("causes")
        constraints = [models.UniqueConstraint(fields=["tenant", "code"], name="cause_once_in_tenant")]

    def __str__(self) -> str:
        return self.code
