"""Tenants, principals, their grants and tokens (docs/permissions.md). Says who there is, not who may what."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, Group
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Tenant(models.Model):
    """One customer of this installation. Everything below belongs to exactly one."""

    name = models.CharField(max_length=128, unique=True)
    #: Generations up to this one are sealed; -1 before the first seal (docs/protocol.md, section 11).
    sealed_generation = models.BigIntegerField(default=-1)

    class Meta:
        verbose_name, verbose_name_plural = _("tenant"), _("tenants")

    def __str__(self) -> str:
        return self.name


class User(AbstractUser):
    """A principal: a person who signs in, or a service account that authenticates by tokens only."""

    class Kind(models.TextChoices):
        PERSON = "person", _("person")
        SERVICE = "service", _("service account")

    #: What people sign in with, unique everywhere. A service account's is "tenant/name": nobody signs in
    #: with it.
    username = models.CharField(max_length=260, unique=True)
    #: How receipts and pages call the principal; unique in the tenant.
    name = models.CharField(max_length=128)
    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="users")
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.PERSON)
    #: Scope `self` reaches the jobs whose owner is this key; empty reaches none.
    owner_key = models.CharField(max_length=200, blank=True, default="")
    #: The person who answers for a service account.
    sponsor = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="sponsored")

    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        verbose_name, verbose_name_plural = _("account"), _("people and service accounts")
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="user_name_once_in_tenant"),
            models.CheckConstraint(condition=Q(kind__in=["person", "service"]), name="user_kind"),
            models.CheckConstraint(
                condition=Q(kind="person") | Q(is_staff=False, is_superuser=False),
                name="service_has_no_admin",
            ),
            models.CheckConstraint(
                condition=Q(sponsor__isnull=True) | Q(kind="service"), name="only_services_have_sponsors"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def has_perm(self, perm: str, obj: Any = None) -> bool:
        """`can.ACTION` asks the one decision (runs.permissions); anything else is Django's own, for the
        admin."""
        if perm.startswith("can."):
            from runs.permissions import can  # the organ stands above the models: ask it only when asked

            return can(self, perm.removeprefix("can."), obj)
        return super().has_perm(perm, obj)

    async def ahas_perm(self, perm: str, obj: Any = None) -> bool:
        from asgiref.sync import sync_to_async

        return await sync_to_async(self.has_perm)(perm, obj)


class Token(models.Model):
    """A service account's credential: `cb_<prefix>_<secret>`. The secret is shown once and kept as a hash."""

    user = models.ForeignKey(User, models.PROTECT, related_name="tokens")
    prefix = models.CharField(max_length=8, unique=True)
    secret_hash = models.CharField(max_length=64)
    #: The ceiling: the actions it may be used for, and the queues (none named: all).
    actions = models.JSONField(default=list)
    queues = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name, verbose_name_plural = _("token"), _("tokens")

    def __str__(self) -> str:
        return f"cb_{self.prefix}_…"


class Grant(models.Model):
    """One right, or one ban, of one person or group. Append-only but for its one revocation (a trigger)."""

    class Effect(models.TextChoices):
        ALLOW = "allow", _("allow")
        DENY = "deny", _("deny")

    class Scope(models.TextChoices):
        TENANT = "tenant", _("every job of the tenant")
        QUEUE = "queue", _("jobs of one queue")
        OWNER = "owner", _("jobs of one owner")
        SELF = "self", _("jobs whose owner is the principal")
        JOB = "job", _("one job")

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="grants")
    user = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="grants")
    group = models.ForeignKey(Group, models.PROTECT, null=True, blank=True, related_name="grants")
    action = models.CharField(max_length=16)
    effect = models.CharField(max_length=5, choices=Effect.choices, default=Effect.ALLOW)
    scope = models.CharField(max_length=6, choices=Scope.choices)
    #: The one that the scope needs is filled, the others are empty (a CHECK).
    queue = models.CharField(max_length=128, blank=True, default="")
    owner = models.CharField(max_length=200, blank=True, default="")
    job = models.CharField(max_length=128, blank=True, default="")
    not_before = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=500, blank=True, default="")
    granted_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    granted_at = models.DateTimeField(db_default=Now())
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        verbose_name, verbose_name_plural = _("grant"), _("grants")
        indexes = [
            models.Index(fields=["user", "action"], name="grant_user_action"),
            models.Index(fields=["group", "action"], name="grant_group_action"),
            models.Index(fields=["tenant", "action"], name="grant_tenant_action"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=True, group__isnull=False)
                | Q(user__isnull=False, group__isnull=True),
                name="grant_one_subject",
            ),
            models.CheckConstraint(condition=Q(effect__in=["allow", "deny"]), name="grant_effect"),
            models.CheckConstraint(
                condition=Q(scope__in=["tenant", "self"], queue="", owner="", job="")
                | (Q(scope="queue", owner="", job="") & ~Q(queue=""))
                | (Q(scope="owner", queue="", job="") & ~Q(owner=""))
                | (Q(scope="job", queue="", owner="") & ~Q(job="")),
                name="grant_scope_columns",
            ),
        ]

    def __str__(self) -> str:
        what = self.queue or self.owner or self.job
        return f"{self.effect} {self.action} {self.scope}{' ' + what if what else ''}"


class Refusal(models.Model):
    """How often a principal was refused: counted by minute, no receipt (docs/permissions.md, The
    decision)."""

    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="refusals")
    user = models.ForeignKey(User, models.CASCADE, related_name="refusals")
    action = models.CharField(max_length=16)
    job_id = models.CharField(max_length=128)
    code = models.CharField(max_length=32)
    minute = models.DateTimeField()
    count = models.PositiveIntegerField(default=1)

    class Meta:
        verbose_name, verbose_name_plural = _("refusal"), _("refusals")
        constraints = [
            models.UniqueConstraint(
                fields=["user", "action", "job_id", "code", "minute"], name="refusal_once"
            ),
        ]
        indexes = [models.Index(fields=["tenant", "minute"], name="refusal_minute")]

    def __str__(self) -> str:
        return f"{self.action} {self.job_id} {self.code}"
