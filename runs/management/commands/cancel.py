"""`manage.py cancel`: ask for a job to be stopped when the page is down. The same command as everywhere.

Exit 0: the answer stands (asked now, asked before, too late). 1: refused. 2: wrong use.
"""

import secrets
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.commands import do
from runs.management.shell import add_as, note, person, told
from runs.protocol.asks import Cancel
from runs.protocol.json_door import parse
from runs.protocol.spec import Spec

FIELDS = ("cause", "spec_digest", "asked_by", "grace_seconds")


class Command(BaseCommand):
    help = "Ask for a job to be stopped, as a person who may. Prints the answer as the API would give it."
    requires_system_checks: tuple[str, ...] = ()  # it needs the tables, not the pages

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("job")
        add_as(parser)
        parser.add_argument("--cause", required=True, metavar="C", help="a code, such as operator_requested")
        named = parser.add_mutually_exclusive_group(required=True)
        named.add_argument("--spec-digest", metavar="D", help="which job is meant: `manage.py job` shows it")
        named.add_argument(
            "--spec", type=Path, metavar="FILE", help="the whole spec: blocks a job never submitted"
        )
        parser.add_argument("--note", default="", metavar="TEXT")
        parser.add_argument("--asked-by", metavar="WHO", help="for whom")
        parser.add_argument("--grace-seconds", type=int, metavar="N")
        parser.add_argument("--event-id", metavar="ID", help="to send the same again; default: a new one")

    def handle(self, *args: Any, job: str, user: str, spec: Path | None, **options: Any) -> None:
        actor = person(user)
        event_id = options["event_id"] or f"shell-{secrets.token_hex(8)}"
        given = {name: options[name] for name in FIELDS if options[name] is not None}
        with told():
            if spec is not None:
                given["spec"] = Spec.model_validate(parse(read(spec)))
            ask = Cancel(event_id=event_id, note=note("cancel", options["note"]), **given)
            # Said first: whatever happens to this process, the same can be sent again.
            self.stderr.write(f"event id {event_id}")
            answer = do(actor, job, ask)
        self.stdout.write(f"{answer.status}{' (answered before)' if answer.replayed else ''}")
        if answer.receipt is not None:
            seq, digest = answer.receipt["seq"], answer.receipt["digest"]
            self.stdout.write(f"receipt {seq or event_id} of {job}: {digest}")
        if answer.code >= 400:
            raise CommandError(f"refused: {answer.status}", returncode=1)


def read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise CommandError(f"--spec: {error}", returncode=2) from None
