"""How many tombstones a principal may set in an hour: nobody takes by the thousand the ids that others need.

Counted in the ledger itself, so every process counts alike. The system and verifiers are not bounded.
"""

from datetime import timedelta

from django.conf import settings
from django.utils.translation import gettext as _

from runs.errors import TooMany
from runs.models import Receipt
from runs.permissions import lock_principal

from .locked import At

HOUR = timedelta(hours=1)


def take(at: At) -> None:
    """One more tombstone by this principal, now. Raises TooMany: nothing was kept, the event id is free.

    The principal's lock keeps the count exact: of two tombstones at once the second counts the first.
    """
    most = settings.CANCELBOARD_TOMBSTONES_PER_HOUR
    if not most or at.actor.user_id is None:
        return
    lock_principal(at.actor.user_id)
    own = Receipt.objects.filter(
        tenant=at.tenant, actor_name=at.actor.name, actor_type=at.actor.type, at__gt=at.now - HOUR
    )
    stones = (
        own.filter(kind="cancel", status="tombstoned").order_by("-at", "-id").values_list("at", flat=True)
    )
    if oldest := list(stones[most - 1 : most]):
        sentence = _("More than %(most)d tombstones in an hour by this principal.") % {"most": most}
        raise TooMany(sentence, retry_after=max(1, round((oldest[0] + HOUR - at.now).total_seconds())))
