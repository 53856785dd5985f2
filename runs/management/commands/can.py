"""`manage.py can`: the permission decision for anyone, step by step. Changes nothing."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.errors import NotVisible
from runs.models import User
from runs.permissions import Action, Actor
from runs.queries.can import explain


class Command(BaseCommand):
    help = "May USER do ACTION to JOB, and why not? Exit 0: yes, 1: no."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="as they sign in; a service account as TENANT/NAME")
        parser.add_argument("action", choices=[str(action) for action in Action])
        parser.add_argument("job")

    def handle(self, *args: Any, user: str, action: str, job: str, **options: Any) -> None:
        asked = User.objects.filter(username=user).select_related("tenant").first()
        if asked is None:
            raise CommandError(f"there is no {user}", returncode=2)
        try:
            found = explain(Actor.system(asked.tenant), Action(action), job, asked.name)
        except NotVisible:
            raise CommandError(f"there is no job {job} in {asked.tenant}", returncode=2) from None
        for step in found["steps"]:
            self.stdout.write(f"{step['n']}. {step['check']}: {step['result']}")
        if grant := found["grant"]:
            self.stdout.write(f"decided by grant {grant['id']}: {grant['says']}, held by {grant['holder']}")
        self.stdout.write(f"who may: {', '.join(found['who_may']) or 'nobody'}")
        if not found["allowed"]:
            raise CommandError(f"no: {found['code']}. {found['reason']} {found['change']}", returncode=1)
        self.stdout.write("yes")
