"""`manage.py certificate JOB`: its certificate on standard output, for whoever has the shell.

Exit 0: printed. 2: no such job, or one in several tenants.
"""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.models import Job
from runs.permissions import Actor
from runs.queries.certificate import certificate


class Command(BaseCommand):
    help = "Print a job's certificate: keep it elsewhere, `verify` checks it, `audit --certificate` uses it."
    requires_system_checks: tuple[str, ...] = ()  # it needs the tables, not the pages

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("job", metavar="JOB")
        parser.add_argument(
            "--tenant", metavar="T", help="needed where several tenants have a job of this id"
        )

    def handle(self, *args: Any, job: str, tenant: str | None, **options: Any) -> None:
        rows = Job.objects.filter(job_id=job).select_related("tenant")
        found = list(rows.filter(tenant__name=tenant) if tenant is not None else rows)
        if len(found) != 1:
            raise CommandError(
                f"There are {len(found)} jobs {job!r}: name one, or its --tenant.", returncode=2
            )
        made = certificate(Actor.system(found[0].tenant), job)
        self.stdout.write(json.dumps(made, ensure_ascii=False, indent=1))
