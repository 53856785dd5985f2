"""What was moved out of this database (docs/protocol.md, section 11): the files, and which jobs are in them.

Only these rows let a receipt be deleted (`triggers.py`), and they stay: an archived job's name is kept.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _

from .ledger import TransactionId
from .people import Tenant


class Archive(models.Model):
    """One finished file, known by the digest of its lines."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="archives")
    digest = models.CharField(max_length=64)
    sealed_generation = models.BigIntegerField()
    jobs = models.PositiveIntegerField()
    receipts = models.BigIntegerField()
    at = models.DateTimeField()
    #: Its transaction: receipts go in later ones only, when this row is safely there.
    xid = models.BigIntegerField(db_default=TransactionId(), editable=False)

    class Meta:
        verbose_name, verbose_name_plural = _("archive"), _("archives")
        constraints = [models.UniqueConstraint(fields=["tenant", "digest"], name="archive_once")]

    def __str__(self) -> str:
        return self.digest


class ArchivedJob(models.Model):
    """One job in it, as far as its receipt `seq`: what came later is not in the file, and stays here."""

    archive = models.ForeignKey(Archive, models.PROTECT, related_name="list")
    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="+")
    job_ref = models.CharField(max_length=128)
    seq = models.BigIntegerField()
    head_digest = models.CharField(max_length=64)

    class Meta:
        verbose_name, verbose_name_plural = _("archived job"), _("archived jobs")
        constraints = [models.UniqueConstraint(fields=["archive", "job_ref"], name="archived_job_once")]
        indexes = [models.Index(fields=["tenant", "job_ref"], name="archived_job_ref")]
