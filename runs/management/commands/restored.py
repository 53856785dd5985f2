"""`manage.py restored`: say that this database is a backup, before anything is let at it again.

Exit 0: every job that may go on is in doubt. 1: busy, run it again. 2: wrong use.
"""

from argparse import ArgumentParser, ArgumentTypeError
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs import ledger
from runs.commands.restored import restored
from runs.ledger import as_text
from runs.management.shell import told

SAY = """What was committed after {at} is lost. It can't be found here; only who asked for it knows:
- cancels since then must be asked again, and so must pauses, blocks and everything else, each under its own
  event id; jobs submitted since then must be submitted again, before their workers go on;
- grants, bans and tokens that were revoked since then are live again: revoke them again;
- generations that were sealed since then are open again: seal them again;
- of each job in doubt only its next step is shown as unknown. Later ones may have been sent too: before you
  record an outcome, look up every later step by its key as well, and pause the job where you find one.
"""


class Command(BaseCommand):
    help = "Raise every fence, and make unknown each step that could have been sent since T."
    requires_system_checks: tuple[str, ...] = ()  # it needs the tables, not the pages

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--at", required=True, type=time, metavar="T", help="when the backup was made, with its zone"
        )

    def handle(self, *args: Any, at: datetime, **options: Any) -> None:
        if at > ledger.clock():
            raise CommandError("--at lies in the future", returncode=2)
        with told():
            done = restored(at)
        self.stdout.write(f"{done['restored']} jobs in doubt now")
        self.stdout.write(SAY.format(at=as_text(at)), ending="")


def time(text: str) -> datetime:
    """ISO 8601 with a zone; anything else is a usage message, exit 2."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no time such as 2026-11-29T12:00:00Z") from None
    if found.tzinfo is None:
        raise ArgumentTypeError(f"{text!r} names no zone")
    return found.astimezone(UTC)
