"""Who looks at the admin, and what they hold: asked once in a request, kept for no other."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from django.http import HttpRequest

from runs.ledger import clock
from runs.models import User
from runs.permissions import WHOLE, Action, Actor, Rights, rights_of


@dataclass(frozen=True)
class Viewer:
    actor: Actor
    rights: Rights
    now: datetime

    @property
    def manages(self) -> bool:
        """May they change rights, and what else is set up?"""
        return self.rights.judge(Action.MANAGE_GRANTS, WHOLE, now=self.now).allowed

    @property
    def may_know_people(self) -> bool:
        """Who holds which right is for those who manage or audit them (docs/permissions.md)."""
        return self.manages or self.rights.judge(Action.EXPORT, WHOLE, now=self.now).allowed

    @property
    def views_all(self) -> bool:
        return self.rights.judge(Action.VIEW, WHOLE, now=self.now).allowed

    @property
    def views_somewhere(self) -> bool:
        return self.rights.anywhere(Action.VIEW, self.now)


def viewer_of(request: HttpRequest) -> Viewer:
    if not hasattr(request, "viewer"):
        actor, now = Actor.of_user(cast(User, request.user)), clock()
        request.viewer = Viewer(actor, rights_of(actor, now), now)  # type: ignore[attr-defined]
    return cast(Viewer, request.viewer)  # type: ignore[attr-defined]
