"""What stays unknown: when its receiver was asked, and who was told of it. Not what a step is."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from .jobs import Job
from .people import Tenant, User


class Check(models.Model):
    """What a verifier was last told about a step, and when it asks again. One row for each step."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="+")
    job = models.ForeignKey(Job, models.CASCADE, related_name="checks")
    ordinal = models.PositiveSmallIntegerField()
    verifier = models.CharField(max_length=64)
    #: What the bound on look-ups at once counts by.
    receiver = models.CharField(max_length=300)
    tries = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField()
    #: A look-up is under way; whoever does it is taken for dead after this.
    running_until = models.DateTimeField(null=True, blank=True)
    #: Who asked for the next one, rather than the clock.
    asked_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    answered_at = models.DateTimeField(null=True, blank=True)
    #: The last answer: an evidence kind, and in words.
    answer = models.CharField(max_length=24, blank=True, default="")
    said = models.TextField(blank=True, default="")

    class Meta:
        verbose_name, verbose_name_plural = _("look-up"), _("look-ups")
        constraints = [models.UniqueConstraint(fields=["job", "ordinal"], name="check_once_for_a_step")]
        indexes = [
            models.Index(
                fields=["receiver", "running_until"],
                condition=Q(running_until__isnull=False),
                name="check_running",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.job} {self.ordinal}"


class Alert(models.Model):
    """That a step had been unknown for `times` its queue's limit. Once for each step and threshold."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="+")
    job = models.ForeignKey(Job, models.CASCADE, related_name="alerts")
    ordinal = models.PositiveSmallIntegerField()
    times = models.PositiveIntegerField()
    limit_seconds = models.PositiveIntegerField()
    since = models.DateTimeField()
    at = models.DateTimeField()

    class Meta:
        verbose_name, verbose_name_plural = _("alert"), _("alerts")
        constraints = [
            models.UniqueConstraint(fields=["job", "ordinal", "times"], name="alert_once_for_a_threshold")
        ]
        indexes = [models.Index(fields=["tenant", "-at", "-id"], name="alert_newest")]

    def __str__(self) -> str:
        return f"{self.job} {self.ordinal}"


class AlertSent(models.Model):
    """One alert on its way by one channel: tried again with back-off until it is `sent`, needless, or given
    up."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        SENT = "sent", _("sent")
        NEEDLESS = "needless", _("needless: the step was settled before")
        GIVEN_UP = "given up", _("given up")

    alert = models.ForeignKey(Alert, models.CASCADE, related_name="channels")
    channel = models.CharField(max_length=8)
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    tries = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField()
    running_until = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    #: Why the last try failed.
    trouble = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        verbose_name, verbose_name_plural = _("sent alert"), _("sent alerts")
        constraints = [
            models.UniqueConstraint(fields=["alert", "channel"], name="alert_once_by_a_channel"),
            models.CheckConstraint(
                condition=Q(channel__in=["log", "email", "webhook"]), name="alert_channel"
            ),
            models.CheckConstraint(
                condition=Q(state="waiting", ended_at__isnull=True)
                | Q(state__in=["sent", "needless", "given up"], ended_at__isnull=False),
                name="alert_state",
            ),
        ]
        indexes = [
            models.Index(fields=["channel", "due_at"], condition=Q(state="waiting"), name="alert_waiting")
        ]

    def __str__(self) -> str:
        return f"{self.alert} {self.channel}"
