"""`manage.py seed`: synthetic jobs in all states, for a database with no real ones in it.

Exit 0: seeded. 2: wrong use. `manage.py audit` checks what was made.
"""

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.ledger import clock
from runs.models import Job, Tenant
from runs.seeding import FEW, Cast, by_command, in_bulk
from runs.seeding.deck import id_parts
from runs.seeding.people import QUEUES


class Command(BaseCommand):
    help = (
        f"Fill a database with synthetic jobs in all states: by the real commands up to {FEW}, else in bulk."
    )
    requires_system_checks: tuple[str, ...] = ()  # it needs the tables, not the pages

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--jobs", required=True, type=positive, metavar="N")
        parser.add_argument(
            "--tenant", metavar="T", help="default: the only one there is, acme where there is none"
        )
        parser.add_argument(
            "--seed", type=int, default=0, help="the same seed tells the same stories (default 0)"
        )

    def handle(self, *args: Any, jobs: int, tenant: str | None, seed: int, **options: Any) -> None:
        cast = Cast.of(tenant or self.only_tenant())
        if unfit := {name for name, needs in QUEUES.items() if cast.queues.get(name) != needs}:
            raise CommandError(
                f"The queues {', '.join(sorted(unfit))} are set up otherwise there.", returncode=2
            )
        prefix, _ = id_parts(cast, seed)
        if Job.objects.filter(tenant=cast.tenant, job_id__startswith=prefix).exists():
            raise CommandError(f"Seed {seed} was told there already: give another --seed.", returncode=2)
        if jobs <= FEW:
            by_command(cast, jobs, seed)
        else:
            for made in in_bulk(cast, jobs, seed, clock()):
                if self.stderr.isatty():
                    self.stderr.write(f"{made} of {jobs} jobs", ending="\r")
        self.stdout.write(f"{jobs} jobs in tenant {cast.tenant.name}")

    def only_tenant(self) -> str:
        names = list(Tenant.objects.order_by("id").values_list("name", flat=True)[:2])
        if len(names) > 1:
            raise CommandError("There are several tenants: say which by --tenant.", returncode=2)
        return names[0] if names else "acme"


def positive(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise ArgumentTypeError(f"{text!r} is no number of jobs")
    return int(text)
