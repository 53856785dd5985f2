"""Receipts, append-only, and how often each event id was delivered again.

The text columns hold canonical JSON exactly as it was digested. Triggers (`triggers.py`) refuse every change.
"""

from django.db import models
from django.db.models import Func, Q
from django.utils.translation import gettext_lazy as _

from .jobs import Job
from .people import Tenant


class TransactionId(Func):
    """PostgreSQL's id of the writing transaction, by which a reader tails in commit order; 0 on SQLite,
    whose one writer commits in the order of `id`."""

    output_field = models.BigIntegerField()

    def as_postgresql(self, compiler, connection, **extra):  # type: ignore[no-untyped-def]
        return "(pg_current_xact_id()::text::bigint)", ()

    def as_sql(self, compiler, connection, **extra):  # type: ignore[no-untyped-def,override]
        return "0", ()


class Receipt(models.Model):
    """One decision. Its keys, meaning and digest: PROTOCOL section 3."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="receipts")
    #: Null where the command met no job; `job_ref` says which one was meant, always.
    job = models.ForeignKey(Job, models.PROTECT, null=True, related_name="receipts")
    job_ref = models.CharField(max_length=128, null=True)
    seq = models.BigIntegerField(null=True)
    event_id = models.CharField(max_length=128, null=True)
    kind = models.CharField(max_length=16)
    status = models.CharField(max_length=20)
    actor_type = models.CharField(max_length=8)
    actor_name = models.CharField(max_length=128)
    ordinal = models.BigIntegerField(null=True)
    body = models.TextField()
    detail = models.TextField()
    at = models.DateTimeField()
    prev_digest = models.CharField(max_length=64, blank=True)
    digest = models.CharField(max_length=64)
    xid = models.BigIntegerField(db_default=TransactionId(), editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("receipt"), _("receipts")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "event_id"], condition=Q(event_id__isnull=False), name="event_once"
            ),
            models.UniqueConstraint(
                fields=["job", "seq"], condition=Q(job__isnull=False), name="receipt_seq_once"
            ),
            models.CheckConstraint(
                condition=Q(job__isnull=True, seq__isnull=True) | Q(job__isnull=False, seq__gte=1),
                name="receipt_seq",
            ),
        ]
        indexes = [
            models.Index(fields=["xid", "id"], name="receipt_tail"),
            models.Index(fields=["tenant", "-at", "-id"], name="receipt_newest"),
            models.Index(fields=["tenant", "kind", "status", "-at", "-id"], name="receipt_kind"),
            models.Index(fields=["tenant", "actor_name", "-at", "-id"], name="receipt_actor"),
        ]

    def __str__(self) -> str:
        return f"{self.job_ref} {self.seq} {self.kind} {self.status}"


class Delivery(models.Model):
    """How often an event id came again: with the same content (a replay), with other content (a conflict)."""

    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="+")
    event_id = models.CharField(max_length=128)
    replays = models.PositiveIntegerField(default=0)
    conflicts = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField()

    class Meta:
        verbose_name, verbose_name_plural = _("repeated event"), _("repeated events")
        constraints = [models.UniqueConstraint(fields=["tenant", "event_id"], name="delivery_once")]
        indexes = [models.Index(fields=["tenant", "-last_at", "-id"], name="delivery_newest")]

    def __str__(self) -> str:
        return self.event_id
