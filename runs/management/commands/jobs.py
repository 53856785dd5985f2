"""`manage.py jobs`: the list that a person may see, newest first, when the page is down. Changes nothing."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from runs.management.shell import add_as, person, told
from runs.queries.headlines import HEADLINES
from runs.queries.jobs import JobFilter, listed

WORDS = ("queue", "control", "result", "owner", "q", "cursor")


class Command(BaseCommand):
    help = "Jobs that the person may see, newest first: id, queue, headline, step, time of the last change."
    requires_system_checks: tuple[str, ...] = ()  # it needs the tables, not the pages

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_as(parser)
        for name in WORDS:
            parser.add_argument(f"--{name}", metavar=name.upper())
        parser.add_argument("--headline", choices=list(HEADLINES))
        for flag in ("unsettled", "disputed"):
            parser.add_argument(f"--{flag}", action="store_const", const=True)
        parser.add_argument("--limit", type=int, default=50, metavar="N", help="1 to 200 (50)")
        parser.add_argument("--json", action="store_true", help="as the API shows them")

    def handle(self, *args: Any, user: str, json: bool, **options: Any) -> None:
        actor = person(user)
        names = (*WORDS, "headline", "unsettled", "disputed", "limit")
        with told():
            found = listed(actor, JobFilter(**{name: options[name] for name in names}))
        if json:
            self.stdout.write(as_json(found))
            return
        for job in found["jobs"]:
            done = sum(step["state"] == "ok" for step in job["steps"])
            steps = f"{done}/{len(job['steps'])}"
            self.stdout.write(
                "  ".join((job["job_id"], job["queue"], job["headline"], steps, job["updated_at"]))
            )
        if found["next_cursor"]:
            self.stderr.write(f"more: --cursor {found['next_cursor']}")


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
