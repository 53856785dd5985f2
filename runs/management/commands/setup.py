"""`manage.py setup`: a tenant, its queues, and somebody who may give rights in it."""

import re
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from runs.models import Queue, Tenant, User
from runs.permissions import new_administrator
from runs.protocol.fields import ID


class Command(BaseCommand):
    help = "Make a tenant, its queues, and a first administrator. What exists is left as it is, and said so."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", required=True, type=id_, metavar="T")
        parser.add_argument("--queue", required=True, type=id_, metavar="Q", action="append", dest="queues")
        parser.add_argument("--admin", metavar="USER", help="prints the initial password, once")

    def handle(self, *args: Any, tenant: str, queues: list[str], admin: str | None, **options: Any) -> None:
        place, made = Tenant.objects.get_or_create(name=tenant)
        self.say(f"tenant {tenant}", made)
        for queue in queues:
            _, made = Queue.objects.get_or_create(tenant=place, name=queue)
            self.say(f"queue {queue}", made)
        if admin:
            self.administrator(place, admin)

    def administrator(self, tenant: Tenant, username: str) -> None:
        if found := User.objects.filter(username=username).first():
            if found.tenant_id != tenant.pk:
                raise CommandError(f"{username} belongs to another tenant: take another name", returncode=2)
            self.say(f"administrator {username}", made=False)
            return
        try:
            password = new_administrator(tenant, username)
        except ValidationError as error:
            raise CommandError("--admin: " + " ".join(error.messages), returncode=2) from None
        self.say(f"administrator {username}", made=True)
        self.stdout.write(f"password, shown this once: {password}")

    def say(self, what: str, made: bool) -> None:
        self.stdout.write(f"{what}: {'made' if made else 'exists, left as it is'}")


def id_(text: str) -> str:
    """An id of docs/protocol.md, section 2; argparse makes a usage message of the ValueError, exit 2."""
    if not re.fullmatch(ID, text):
        raise ValueError
    return text
