"""Keeps views of lists: one's own, and those that somebody shares. A view's filters may name a customer, so
who does not see the whole tenant sees no other person's. Of the same name: the later one counts.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from runs import ledger
from runs.errors import NotVisible
from runs.models import SavedView
from runs.permissions import WHOLE, Action, Actor, Rights

MOST = 30  #: of one person for one list
SHOWN = 40  #: on one page


@dataclass(frozen=True)
class Kept:
    """`own`: this person's, who alone may remove it."""

    id: int
    name: str
    query: str
    own: bool
    by: str
    shared: bool


def views(actor: Actor, rights: Rights, page: str, now: datetime) -> list[Kept]:
    """In the order in which they were made."""
    assert actor.user_id is not None  # a signed-in person
    mine, whole = Q(user_id=actor.user_id), rights.judge(Action.VIEW, WHOLE, now=now).allowed
    seen = mine | Q(shared=True, user__is_active=True) if whole else mine
    found = SavedView.objects.filter(seen, tenant_id=actor.tenant_id, page=page).select_related("user")
    return [_kept(view, actor) for view in found.order_by("id")[:SHOWN]]


def save(actor: Actor, page: str, name: str, query: str, *, shared: bool) -> bool:
    """False where this person has as many as are kept."""
    assert actor.user_id is not None  # a signed-in person
    mine = SavedView.objects.filter(user_id=actor.user_id, page=page)
    if mine.exclude(name=name).count() >= MOST:
        return False
    SavedView.objects.update_or_create(
        user_id=actor.user_id,
        page=page,
        name=name,
        defaults={
            "tenant_id": actor.tenant_id,
            "query": query,
            "shared": shared,
            "created_at": ledger.clock(),
        },
    )
    return True


def own(actor: Actor, view_id: int) -> Kept:
    """Raises NotVisible for what is not this person's."""
    return _kept(_own(actor, view_id), actor)


def remove(actor: Actor, view_id: int) -> str:
    """Returns the list that it was of. Raises NotVisible for what is not this person's."""
    view = _own(actor, view_id)
    view.delete()
    return view.page


def _own(actor: Actor, view_id: int) -> SavedView:
    assert actor.user_id is not None  # a signed-in person
    found = SavedView.objects.filter(pk=view_id, user_id=actor.user_id, tenant_id=actor.tenant_id)
    if (view := found.select_related("user").first()) is None:
        raise NotVisible
    return view


def _kept(view: SavedView, actor: Actor) -> Kept:
    return Kept(view.pk, view.name, view.query, view.user_id == actor.user_id, view.user.name, view.shared)
