"""`manage.py demo`: the embedded database, the demo's people, real workers and real mail, until Ctrl-C."""

import errno
import logging
import os
import secrets
import signal
from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from runs.demo import people, stage, verifier
from runs.demo.mailer import TOOL_NAME
from runs.models import Token, Tool
from runs.permissions import Action, Actor, issue_token, revoke_token

PARTS = {
    "sam": "support: sees everything, records outcomes in queue mail",
    "lena": "lead: also cancels, revokes, approves",
    "omar": "operator: cancels, blocks, pauses, revokes in queue mail",
    "olga": "the customer-1 developer: sees and cancels her own",
    "aud": "auditor: sees and exports",
    "ada": "administrator: grants rights, sees no jobs (/admin/)",
}


class Command(BaseCommand):
    help = "Serve the demo: the board on PORT, the mail house on PORT + 1, an SMTP server on PORT + 2."

    def add_arguments(self, parser: ArgumentParser) -> None:
        port = int(os.environ.get("PORT", "8000"))
        parser.add_argument("--port", type=int, default=port, help="of the board (PORT, or 8000)")
        parser.add_argument(
            "--mail-seconds", type=float, default=4.0, help="the mail server takes to answer (4)"
        )

        parser.add_argument(
            "--check",
            action="store_true",
            default=os.environ.get("CHECK", "") not in ("", "0"),
            help="a verifier looks up what became of a mail, not a person",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        for name in ("httpx", "mail.log"):  # the terminal is for the addresses
            logging.getLogger(name).setLevel(logging.WARNING)
        call_command("migrate", verbosity=0)
        for number in (signal.SIGTERM, signal.SIGINT):  # which a shell's background job is born deaf to
            signal.signal(number, _interrupt)
        try:
            stage.play(
                options["port"],
                _bill(options["port"], check=options["check"]),
                self.stdout.write,
                mail_seconds=options["mail_seconds"],
            )
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            taken = f"a port from {options['port']} to {options['port'] + 2} is taken: PORT=… moves all three"
            raise CommandError(taken) from None
        except KeyboardInterrupt:
            self.stdout.write("\nThe demo has ended; its database is kept.")


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _bill(port: int, *, check: bool) -> stage.Bill:
    """Make the people where they are missing, with a new password and a new token for the worker."""
    password = secrets.token_urlsafe(9)
    cast = people.cast(password)
    worker, system = cast["w1"], Actor.system(cast["w1"].tenant)
    for token in Token.objects.filter(user=worker, revoked_at=None):
        revoke_token(system, token.pk)
    _, text = issue_token(system, worker, [Action.VIEW, Action.SUBMIT, Action.EXECUTE], queues=["mail"])
    Tool.objects.update_or_create(
        tenant=worker.tenant,
        name=TOOL_NAME,
        defaults={
            "label": "Mail house",
            "where_to_look": "The mail house's mailbox lists what its server received, by idempotency key.\n"
            "Nothing under a key is no proof: seal the key there, and it can never be received.",
            "link_template": f"http://127.0.0.1:{port + 1}/?key={{key}}",
            "verifier": verifier.NAME if check else "",
        },
    )
    return stage.Bill(PARTS, password, text)
