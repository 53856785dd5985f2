"""`manage.py certificate`: a job's certificate on standard output, to be kept elsewhere. Changes nothing."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from runs import readings
from runs.management.shell import add_as, person, told
from runs.permissions import Action, counting
from runs.queries.certificate import certificate


class Command(BaseCommand):
    help = "A job's certificate, as JSON: `verify` checks it, `audit --certificate` uses it."
    requires_system_checks: tuple[str, ...] = ()  # it needs the tables, not the pages

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("job")
        add_as(parser)

    def handle(self, *args: Any, job: str, user: str, **options: Any) -> None:
        actor = person(user)
        with told(), counting(actor, Action.EXPORT, job):
            made = certificate(actor, job)
            readings.of_certificate(actor.tenant_id, actor.user_id, job)
        self.stdout.write(json.dumps(made, ensure_ascii=False, indent=1))
