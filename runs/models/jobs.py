"""Jobs, their steps, claims and proposals. The job row is the cursor: by invariants I1 and I2, `position` and
`cur` are the state of all its steps, so a decision needs that row and at most two steps ."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from .people import Tenant, User


class Job(models.Model):
    """One job or tombstone. PROTOCOL section 1 says what its values mean."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="jobs")
    job_id = models.CharField(max_length=128)
    queue = models.CharField(max_length=128)
    owner = models.CharField(max_length=200, blank=True, default="")
    dispatch = models.CharField(max_length=8)
    #: The parent as the spec names it; the row it points to only where the job was admitted.
    parent_ref = models.CharField(max_length=128, blank=True, default="")
    parent = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="children")
    depth = models.PositiveSmallIntegerField(default=0)
    has_children = models.BooleanField(default=False)
    generation = models.BigIntegerField(default=0)
    spec_digest = models.CharField(max_length=64)
    #: The first step's label: what lists call the job.
    title = models.CharField(max_length=200, blank=True, default="")

    admitted = models.BooleanField()
    control = models.CharField(max_length=12, default="run")
    result = models.CharField(max_length=9, default="open")
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_seq = models.BigIntegerField(null=True, blank=True)
    paused_cause = models.CharField(max_length=64, blank=True, default="")

    n_steps = models.PositiveSmallIntegerField()
    #: Steps before this ordinal are ok, steps after it are pending; at it stands `cur`.
    position = models.PositiveSmallIntegerField(default=0)
    cur = models.CharField(max_length=8, default="pending")
    unsettled_since = models.DateTimeField(null=True, blank=True)
    #: How many of its steps are disputed, and how many were settled ok without their mark.
    disputed = models.PositiveSmallIntegerField(default=0)
    no_mark = models.PositiveSmallIntegerField(default=0)

    # The cancel: the one that was accepted, or the first that came too late.
    cancel_seq = models.BigIntegerField(null=True, blank=True)
    cancel_cause = models.CharField(max_length=64, blank=True, default="")
    cancel_note = models.TextField(blank=True, default="")
    cancel_asked_by = models.CharField(max_length=200, blank=True, default="")
    cancel_by = models.CharField(max_length=128, blank=True, default="")
    cancel_at = models.DateTimeField(null=True, blank=True)
    grace_until = models.DateTimeField(null=True, blank=True)
    escalated_seq = models.BigIntegerField(null=True, blank=True)
    too_late = models.BooleanField(default=False)
    heard_seq = models.BigIntegerField(null=True, blank=True)
    heard_at = models.DateTimeField(null=True, blank=True)
    #: The newest signal that was put on its way to the claim's holder, when, and by which channel.
    offered_seq = models.BigIntegerField(null=True, blank=True)
    offered_at = models.DateTimeField(null=True, blank=True)
    offered_by = models.CharField(max_length=9, blank=True, default="", db_default="")

    # The claim: the newest fence, and who holds it (nobody after a revoke).
    fence = models.BigIntegerField(default=0)
    holder = models.CharField(max_length=128, blank=True, default="")
    claim_hash = models.CharField(max_length=64, blank=True, default="")
    lease_seconds = models.PositiveIntegerField(default=0)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)

    blocked_submits = models.PositiveIntegerField(default=0)
    blocked_at = models.DateTimeField(null=True, blank=True)

    # The chain's head: the last receipt's number, digest and time.
    seq = models.BigIntegerField(default=0)
    head_digest = models.CharField(max_length=64, default="0" * 64)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        verbose_name, verbose_name_plural = _("job"), _("jobs")
        constraints = [
            models.UniqueConstraint(fields=["tenant", "job_id"], name="job_once_in_tenant"),
            models.CheckConstraint(
                condition=Q(control__in=["run", "requested", "acknowledged"]), name="job_control"
            ),
            models.CheckConstraint(
                condition=Q(result__in=["open", "succeeded", "failed"]), name="job_result"
            ),
            models.CheckConstraint(condition=Q(dispatch__in=["marked", "unmarked"]), name="job_dispatch"),
            models.CheckConstraint(condition=Q(n_steps__gte=1, n_steps__lte=256), name="job_n_steps"),
            models.CheckConstraint(
                condition=Q(cur="ok", position=F("n_steps"))
                | Q(cur__in=["pending", "inflight", "unknown", "rejected"], position__lt=F("n_steps")),
                name="job_cursor",
            ),
            models.CheckConstraint(  # I3, I4
                condition=Q(result="succeeded", cur="ok")
                | Q(result="failed", cur="rejected")
                | Q(result="open", cur__in=["pending", "inflight", "unknown"]),
                name="job_result_follows_steps",
            ),
            models.CheckConstraint(
                condition=Q(cur__in=["inflight", "unknown"], unsettled_since__isnull=False)
                | Q(cur__in=["pending", "ok", "rejected"], unsettled_since__isnull=True),
                name="job_unsettled_since",
            ),
            models.CheckConstraint(  # I5
                condition=~Q(control="acknowledged") | Q(unsettled_since__isnull=True),
                name="job_acknowledged_is_settled",
            ),
            models.CheckConstraint(  # I6
                condition=Q(admitted=True)
                | Q(control="acknowledged", result="open", position=0, cur="pending", fence=0, holder=""),
                name="job_tombstone",
            ),
            models.CheckConstraint(  # I7, as far as one row can say it
                condition=Q(control="run") | Q(cancel_seq__isnull=False, too_late=False),
                name="job_cancel_is_recorded",
            ),
            models.CheckConstraint(
                condition=Q(holder="", claim_hash="") | (~Q(holder="") & ~Q(claim_hash="")),
                name="job_claim_is_whole",
            ),
        ]
        # Nothing a heartbeat writes is indexed, and no predicate names a state.
        indexes = [
            models.Index(fields=["tenant", "-created_at", "-id"], name="job_newest"),
            models.Index(fields=["tenant", "queue", "-created_at", "-id"], name="job_queue_newest"),
            models.Index(fields=["tenant", "owner", "-created_at", "-id"], name="job_owner_newest"),
            models.Index(fields=["tenant", "control", "-created_at", "-id"], name="job_control_newest"),
            models.Index(fields=["tenant", "result", "-created_at", "-id"], name="job_result_newest"),
            models.Index(fields=["tenant", "admitted", "-created_at", "-id"], name="job_admitted_newest"),
            models.Index(
                fields=["tenant", "control", "unsettled_since", "id"],
                condition=Q(unsettled_since__isnull=False),
                name="job_unsettled",
            ),
            models.Index(
                fields=["tenant", "-updated_at", "-id"],
                condition=Q(disputed__gt=0) | Q(no_mark__gt=0),
                name="job_disputed",
            ),
            models.Index(fields=["parent", "id"], name="job_parent"),
        ]

    def __str__(self) -> str:
        return self.job_id


class Tombstone(Job):
    """A job that is not admitted: the cancel came first."""

    class Meta:
        verbose_name, verbose_name_plural = _("tombstone"), _("tombstones")
        proxy = True


class Step(models.Model):
    """One step: its immutable part of the spec, and what became of it. Its `state` follows the job's
    cursor."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="+")
    job = models.ForeignKey(Job, models.CASCADE, related_name="steps")
    ordinal = models.PositiveSmallIntegerField()
    label = models.CharField(max_length=200, blank=True)
    tool = models.CharField(max_length=200, blank=True, default="")
    target = models.CharField(max_length=200, blank=True, default="")
    #: Canonical JSON text: never a database's own JSON, which would reorder it.
    params = models.TextField(default="{}")

    state = models.CharField(max_length=8, default="pending")
    value = models.TextField(null=True, blank=True)
    #: The fence that reserved it, under which attempt; when it was marked as sent, by which attempt.
    reserved_by = models.BigIntegerField(null=True, blank=True)
    reserved_at = models.DateTimeField(null=True, blank=True)
    attempt = models.CharField(max_length=128, null=True, blank=True)
    dispatched_at = models.DateTimeField(null=True, blank=True)
    dispatch_attempt = models.CharField(max_length=128, null=True, blank=True)
    #: The claim that reserved it reported `unknown` itself.
    said_unknown = models.BooleanField(default=False)
    #: A lapse put it back to pending: a later report of its claim is testimony.
    put_back = models.BooleanField(default=False)
    disputed = models.BooleanField(default=False)
    no_mark = models.BooleanField(default=False)
    #: Kept testimony since the last closed dispute, and the receipt that closed it.
    testimony = models.PositiveIntegerField(default=0)
    closed_seq = models.BigIntegerField(default=0)
    #: Who settled it, by which receipt.
    settled_type = models.CharField(max_length=8, blank=True, default="")
    settled_by = models.CharField(max_length=128, blank=True, default="")
    settled_seq = models.BigIntegerField(null=True, blank=True)
    #: The last receipt that changed its state, testimony or dispute: what a proposal is bound to.
    version = models.BigIntegerField(default=0)

    class Meta:
        verbose_name, verbose_name_plural = _("step"), _("steps")
        constraints = [
            models.UniqueConstraint(fields=["job", "ordinal"], name="step_once_in_job"),
            models.CheckConstraint(
                condition=Q(state__in=["pending", "inflight", "unknown", "ok", "rejected"]), name="step_state"
            ),
            models.CheckConstraint(  # I8
                condition=Q(state__in=["ok", "rejected"], value__isnull=False, settled_seq__isnull=False)
                | Q(
                    state__in=["pending", "inflight", "unknown"], value__isnull=True, settled_seq__isnull=True
                ),
                name="step_value_when_settled",
            ),
            models.UniqueConstraint(  # I1
                fields=["job"], condition=Q(state__in=["inflight", "unknown"]), name="step_one_unsettled"
            ),
        ]
        indexes = [models.Index(fields=["tenant", "tool", "state"], name="step_tool_state")]

    def __str__(self) -> str:
        return f"{self.job} {self.ordinal}"


class Claim(models.Model):
    """A fence of a job: the hash of the token it was issued under, for ever. A revoke issues none."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="+")
    job = models.ForeignKey(Job, models.CASCADE, related_name="claims")
    fence = models.BigIntegerField()
    worker = models.CharField(max_length=128, blank=True, default="")
    token_hash = models.CharField(max_length=64, blank=True, default="")
    #: The principal that claimed: it may not reconcile this job (docs/permissions.md, rule 5).
    user = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    #: By what cause this fence ended the one before it; empty where there was none.
    cause = models.CharField(max_length=64, blank=True, default="")
    at = models.DateTimeField()

    class Meta:
        verbose_name, verbose_name_plural = _("claim"), _("claims")
        constraints = [models.UniqueConstraint(fields=["job", "fence"], name="fence_once_in_job")]

    def __str__(self) -> str:
        return f"{self.job} {self.fence}"


class Proposal(models.Model):
    """An outcome that waits for a second person, bound to what was entered and to the step's version."""

    tenant = models.ForeignKey(Tenant, models.PROTECT, related_name="proposals")
    job = models.ForeignKey(Job, models.CASCADE, related_name="proposals")
    ordinal = models.PositiveSmallIntegerField()
    proposal_id = models.CharField(max_length=64)
    seq = models.BigIntegerField()
    outcome = models.CharField(max_length=8)
    value = models.TextField(blank=True, default="")
    evidence = models.TextField()
    version = models.BigIntegerField()
    state = models.CharField(max_length=10, default="open")
    by = models.ForeignKey(User, models.PROTECT, related_name="+")
    at = models.DateTimeField()
    expires_at = models.DateTimeField()
    decided_by = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name, verbose_name_plural = _("proposal"), _("proposals")
        constraints = [
            models.UniqueConstraint(fields=["tenant", "proposal_id"], name="proposal_once"),
            models.CheckConstraint(
                condition=Q(state__in=["open", "approved", "declined", "withdrawn", "expired", "superseded"]),
                name="proposal_state",
            ),
        ]
        indexes = [models.Index(fields=["tenant", "state", "expires_at", "id"], name="proposal_open")]

    def __str__(self) -> str:
        return self.proposal_id
