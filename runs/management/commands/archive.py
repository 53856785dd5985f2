"""`manage.py archive`: move ended jobs of sealed generations into a signed file, and out of the database.

For who has the machine and the owner's database role. May be killed and run again with the same FILE. Exit 0:
all of it is done. 1: the file does not hold, so nothing went. 2: wrong use.
"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs import archives
from runs.commands import archive
from runs.errors import Invalid, NotVisible
from runs.management.shell import person, told
from runs.models import Tenant
from runs.permissions import Actor


class Command(BaseCommand):
    help = "Move tombstones and ended jobs of sealed generations, receipts and all, into a signed file."
    requires_system_checks: tuple[str, ...] = ()  # it needs the tables, not the pages

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--to", required=True, type=Path, metavar="FILE")
        parser.add_argument("--tenant", metavar="T", help="default: the only one there is")
        parser.add_argument(
            "--as", dest="user", metavar="USER", help="a person who may seal; default: system"
        )

    def handle(self, *args: Any, to: Path, tenant: str | None, user: str | None, **options: Any) -> None:
        place = self.place(tenant)
        actor = person(user) if user else Actor.system(place)
        if actor.tenant_id != place.pk:
            raise CommandError(f"{user} belongs to another tenant", returncode=2)
        if not to.exists():
            self.write(to, place)
        told_, found = archives.checked(to)
        for finding in found:
            self.stdout.write(str(finding))
        if found:
            raise CommandError(f"{to} does not hold: nothing was removed", returncode=1)
        try:
            with told():
                committed = archive.commit(actor, told_)
        except NotVisible:
            raise CommandError(f"{to} is another tenant's", returncode=2) from None
        gone = sum(archive.remove(committed))
        self.stdout.write(f"{committed.jobs} jobs, {committed.receipts} receipts in {to}")
        self.stdout.write(f"digest {committed.digest}")
        self.stdout.write(f"{gone} jobs removed now")
        if told_.last["signature"] is None:
            self.stderr.write("not signed: there is no CANCELBOARD_SIGNING_KEY")

    def write(self, to: Path, place: Tenant) -> None:
        try:
            for jobs in archive.write(to, place, place.sealed_generation):
                if self.stderr.isatty():
                    self.stderr.write(f"{jobs} jobs written", ending="\r")
        except Invalid as wrong:
            raise CommandError(f"{to}.part: {wrong}", returncode=2) from None
        except OSError as error:
            raise CommandError(f"{to}: {error.strerror}", returncode=2) from None

    def place(self, name: str | None) -> Tenant:
        found = list(Tenant.objects.filter(**({"name": name} if name else {}))[:2])
        if len(found) != 1:
            raise CommandError(
                f"there is no tenant {name}" if name else "say which tenant by --tenant", returncode=2
            )
        if found[0].sealed_generation < 0:
            raise CommandError("no generation is sealed: nothing may go", returncode=2)
        return found[0]
