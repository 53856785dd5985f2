"""`manage.py token`: a service account with its rights, and a new bearer token, alone on standard output."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.errors import CancelboardError
from runs.models import Tenant, User
from runs.permissions import Action, Actor, open_account


class Command(BaseCommand):
    help = (
        "Print a new token of a service account, once; first make the account and its grants, where needed. "
        "A token is revoked in the admin, under Tokens, by who manages grants; at most two live."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", required=True, metavar="T")
        parser.add_argument("--name", required=True, metavar="N", help="the service account")
        parser.add_argument("--allow", required=True, type=actions, metavar="ACTION[,ACTION…]")
        parser.add_argument("--queue", default="", metavar="Q", help="in this queue only")
        parser.add_argument("--days", default=90, type=int, metavar="D", help="1 to 365 (90)")
        parser.add_argument("--sponsor", metavar="USER", help="the person who answers for the account")

    def handle(
        self,
        *args: Any,
        tenant: str,
        name: str,
        allow: list[Action],
        queue: str,
        days: int,
        sponsor: str | None,
        **options: Any,
    ) -> None:
        place = Tenant.objects.filter(name=tenant).first()
        if place is None:
            raise CommandError(f"there is no tenant {tenant}", returncode=2)
        person = User.objects.filter(username=sponsor).first() if sponsor else None
        if sponsor and person is None:
            raise CommandError(f"there is no {sponsor}", returncode=2)
        try:
            text = open_account(Actor.system(place), name, allow, queue=queue, days=days, sponsor=person)
        except CancelboardError as error:
            raise CommandError(str(error), returncode=2) from None
        self.stdout.write(text)
        if Action.VIEW not in allow:
            self.stderr.write("Without `view` the token will find nothing: every answer is 404.")


def actions(text: str) -> list[Action]:
    """Comma-separated; argparse turns the ValueError into a usage message, exit 2."""
    return [Action(word) for word in text.split(",")]
