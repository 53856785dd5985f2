"""`manage.py audit`: every invariant and every digest (PROTOCOL section 1), by code of its own.

Exit 0: clean. 1: a line for each breach on standard output. 2: wrong use.
"""

import sys
from argparse import ArgumentParser
from itertools import chain
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.audit import breaches, lost, snapshot
from runs.certificates import checked
from runs.models import Job, Receipt


class Command(BaseCommand):
    help = "Check every invariant and every digest. Exit 1 and one line for each breach, 0 when clean."
    requires_system_checks: tuple[str, ...] = ()  # it needs the tables, not the pages

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--job", metavar="ID", help="only this job, not what spans the ledger")
        parser.add_argument(
            "--certificate",
            metavar="FILE",
            type=Path,
            action="append",
            default=[],
            help="also find what this certificate holds and the ledger lost; may be given several times",
        )
        parser.add_argument("--json", action="store_true", help="each breach as one JSON object on its line")

    def handle(
        self, *args: Any, job: str | None, json: bool, certificate: list[Path], **options: Any
    ) -> None:
        kept = [self.sound(file) for file in certificate]
        with snapshot():
            jobs = Job.objects.all() if job is None else Job.objects.filter(job_id=job)
            receipts = Receipt.objects.filter(job_ref=job) if job is not None else Receipt.objects.all()
            seen = f"{jobs.count()} jobs, {receipts.count()} receipts"
            if job is not None and not jobs.exists() and not receipts.exists():
                raise CommandError(f"There is no job {job!r}.", returncode=2)
            found = 0
            for breach in chain(breaches(job), *map(lost, kept)):
                self.stdout.write(breach.as_json() if json else str(breach))
                found += 1
        self.stderr.write(f"{seen}: {found} breaches" if found else f"{seen}: clean", self.style.NOTICE)
        if found:
            sys.exit(1)

    def sound(self, file: Path) -> Any:
        """The certificate in `file`, by which the ledger may be judged."""
        try:
            certificate, found = checked(file.read_bytes())
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}", returncode=2) from None
        if found:
            raise CommandError(f"{file} does not hold, so it says nothing: see `verify`.", returncode=2)
        if certificate["signature"] is None:
            self.stderr.write(f"{file} is not signed: it is as good as the place where it was kept")
        return certificate
