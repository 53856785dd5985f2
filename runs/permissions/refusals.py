"""What a refusal says, and how often it was said. No receipt: a refused try leaves nothing in the ledger."""

from datetime import datetime

from django.db import connection, transaction
from django.db.models import F
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from runs import ledger
from runs.errors import NotAllowed, Unauthenticated
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


def count_refusal(actor: Actor, action: str, job_id: str, code: str, now: datetime | None = None) -> None:
    """One more refusal in this minute, in a transaction of its own, after the refused one rolled back.

    The system and verifiers are not counted: they are refused nothing.
    """
    if actor.user_id is None:
        return
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
