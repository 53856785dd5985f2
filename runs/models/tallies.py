"""What Insights counts, kept from receipts by the settle loop (`runs.tallies`): how much of what, in each
quarter of an hour, queue and tool. Nothing decides by these rows, and all of them can be made again."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from .people import Tenant


class Counted(models.Model):
    """`at`: when the quarter of an hour began; every zone's days are cut at such a time. `tool`: empty for
    what is a whole job's."""

    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="+")
    queue = models.CharField(max_length=128)
    tool = models.CharField(max_length=200, blank=True, default="")
    at = models.DateTimeField()

    class Meta:
        abstract = True


class Tally(Counted):
    """How often it came about then. But `confirmed` and `closed` count what began then and has ended since:
    what began then and goes on is `asked - confirmed` and `opened - closed`."""

    asked = models.PositiveIntegerField(default=0)  #: cancels accepted
    confirmed = models.PositiveIntegerField(default=0)
    opened = models.PositiveIntegerField(default=0)  #: steps that became unknown
    closed = models.PositiveIntegerField(default=0)
    happened = models.PositiveIntegerField(default=0)  #: unknown steps that were settled then
    rejected = models.PositiveIntegerField(default=0)
    fenced = models.PositiveIntegerField(default=0)  #: late writes that were refused
    claim_lost = models.PositiveIntegerField(default=0)
    cancelled = models.PositiveIntegerField(default=0)  #: sends that a cancel forbade
    declined = models.PositiveIntegerField(default=0)  #: entries sent back
    expired = models.PositiveIntegerField(default=0)
    disputed = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name, verbose_name_plural = _("tally"), _("tallies")
        constraints = [
            models.UniqueConstraint(fields=["tenant", "at", "queue", "tool"], name="tally_once"),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "at"],
                condition=Q(opened__gt=F("closed")),
                name="tally_still_open",
            )
        ]

    def __str__(self) -> str:
        return f"{self.at} {self.queue} {self.tool}"


class Spell(Counted):
    """How many lasted how long. `confirm` and `settle`: what began then and has ended, from the cancel to its
    confirmation and from unknown to settled, `size` as `tallies.size` has it. `stood`: what was unknown at
    that moment (every 6 hours) and has been settled since, `size` by its age then."""

    kind = models.CharField(max_length=7)
    size = models.SmallIntegerField()
    count = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name, verbose_name_plural = _("spell"), _("spells")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "kind", "at", "queue", "tool", "size"], name="spell_once"
            ),
            models.CheckConstraint(condition=Q(kind__in=["confirm", "settle", "stood"]), name="spell_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.at} {self.queue} {self.tool} {self.size}"


class Folded(models.Model):
    """Up to which receipt they are counted, in the order in which `runs.tail` reads them: one row."""

    xid = models.BigIntegerField(default=0)
    receipt = models.BigIntegerField(default=0)
    at = models.DateTimeField(null=True)

    class Meta:
        verbose_name, verbose_name_plural = _("place in the ledger"), _("places in the ledger")

    def __str__(self) -> str:
        return f"{self.xid} {self.receipt}"
