"""`manage.py setup`: a tenant, its queues, and somebody who may give rights in it."""

import re
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from runs.models import Queue, Tenant, User
from runs.permissions import check_name, new_administrator
from runs.protocol.fields import ID


class Command(BaseCommand):
    help = "Make a tenant, its queues, and a first administrator. What exists is left as it is, and said so."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", required=True, type=id_, metavar="T")
        parser.add_argument("--queue", required=True, type=id_, metavar="Q", action="append", dest="queues")
        parser.add_argument("--admin", metavar="USER", help="prints the initial password, once")

    def handle(self, *args: Any, tenant: str, queues: list[str], admin: str | None, **options: Any) -> None:
        known = admin is not None and self.is_known(tenant, admin)  # before anything is made
        place, made = Tenant.objects.get_or_create(name=tenant)
        self.say(f"tenant {tenant}", made)
        for queue in queues:
            _, made = Queue.objects.get_or_create(tenant=place, name=queue)
            self.say(f"queue {queue}", made)
        if admin is None:
            return
        password = "" if known else new_administrator(place, admin)
        self.say(f"administrator {admin}", made=not known)
        if password:
            self.stdout.write(f"password, shown this once: {password}")

    def is_known(self, tenant: str, username: str) -> bool:
        """Whether this administrator exists. A name that won't do ends the command."""
        found = User.objects.filter(username=username).select_related("tenant").first()
        if found is None:
            try:
                check_name(username)
            except ValidationError as error:
                raise CommandError("--admin: " + " ".join(error.messages), returncode=2) from None
            return False
        if found.tenant.name != tenant:
            raise CommandError(
                f"--admin: {username} belongs to another tenant: take another name", returncode=2
            )
        if not found.is_superuser:
            raise CommandError(f"--admin: {username} is no administrator: take another name", returncode=2)
        return True

    def say(self, what: str, made: bool) -> None:
        self.stdout.write(f"{what}: {'made' if made else 'exists, left as it is'}")


def id_(text: str) -> str:
    """An id of docs/protocol.md, section 2; argparse makes a usage message of the ValueError, exit 2."""
    if not re.fullmatch(ID, text):
        raise ValueError
    return text
