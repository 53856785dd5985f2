"""What a refusal says, and how often it was said. No receipt: a refused try leaves nothing in the ledger."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import connection, transaction
from django.db.models import F
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from runs import ledger, metrics
from runs.errors import NotAllowed, NotVisible, Unauthenticated
from runs.models import Refusal

from .actor import Actor
from .decision import Verdict

SENTENCES = {
    "principal_inactive": _("This account is switched off."),
    "token_dead": _("This token has expired or was revoked."),
    "token_ceiling": _("This token does not reach that far: the action or the queue is not in it."),
    "principal_kind": _("This is not for this kind of account."),
    "explicit_deny": _("A rule forbids this to you here."),
    "grant_expired": _("Your right to do this has expired."),
    "no_grant": _("You have no right to do this here."),
    "same_person": _("You proposed this outcome: another person must look at it."),
    "sod_executor": _("You, or an account you answer for, ran this job: somebody else must look at it."),
    "sod_self_grant": _("Nobody gives rights to themselves: ask another administrator."),
}
#: What would change it.
WAYS = {
    "principal_inactive": _("An administrator can switch the account on again."),
    "token_dead": _("A new token would change that."),
    "token_ceiling": _("A token with this action and this queue would change that."),
    "principal_kind": _("No grant would change that: people approve, service accounts execute."),
    "explicit_deny": _("No grant outweighs it: only the end of that rule would change it."),
    "grant_expired": _("A new grant would change that."),
    "no_grant": _("A grant on this job, its owner, its queue or the tenant would change that."),
    "same_person": _("Somebody else who may approve can decide it; you can withdraw it."),
    "sod_executor": _("Somebody who had no part in running the job can do it."),
    "sod_self_grant": _("Another administrator can do it."),
}
UNAUTHENTICATED = ("principal_inactive", "token_dead")

#: Rows kept in a tenant; the oldest go first.
KEPT = 10_000
TRIM_LOCK = 0x6363


def error_of(verdict: Verdict) -> NotAllowed | Unauthenticated:
    """The error to raise for a refusal: 401 where the credentials are dead, else 403 with the rule."""
    sentence = gettext(SENTENCES[verdict.code])
    if verdict.code in UNAUTHENTICATED:
        return Unauthenticated(sentence, verdict.code)
    return NotAllowed(verdict.code, sentence)


@contextmanager
def counting(actor: Actor, action: str, job_id: str) -> Iterator[None]:
    """Counts a refusal that comes out of the block, once however many blocks it comes out of. Around a
    transaction, never inside one. A read of one named job is a try too: who probes ids is seen."""
    try:
        yield
    except (NotAllowed, NotVisible) as refusal:
        if not refusal.counted:
            refusal.counted = True
            count_refusal(actor, refusal.action or action, job_id, refusal.code)
        raise


def count_refusal(actor: Actor, action: str, job_id: str, code: str, now: datetime | None = None) -> None:
    """One more refusal in this minute, in a transaction of its own, after the refused one rolled back.

    The system and verifiers are not counted: they are refused nothing.
    """
    if actor.user_id is None:
        return
    metrics.REFUSALS.labels(action, code).inc()
    with transaction.atomic(durable=True):
        row, new = Refusal.objects.get_or_create(
            user_id=actor.user_id,
            action=action,
            job_id=job_id[:128],
            code=code,
            minute=(now or ledger.clock()).replace(second=0, microsecond=0),
            defaults={"tenant_id": actor.tenant_id},
        )
        if new:
            _trim(actor.tenant_id)
        else:
            Refusal.objects.filter(pk=row.pk).update(count=F("count") + 1)


def _trim(tenant_id: int) -> None:
    """Keeps the newest. One at a time: no two wait for each other's rows, and the second need not."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [TRIM_LOCK, tenant_id % 2**31])
            if not cursor.fetchone()[0]:
                return
    oldest = Refusal.objects.filter(tenant_id=tenant_id).order_by("-minute", "-pk").values("pk")[KEPT:]
    Refusal.objects.filter(pk__in=oldest).delete()
