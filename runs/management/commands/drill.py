"""Prove that the stop path works: ask each account that works to hear a canary, and say how fast it did.

Stops nothing. Exit 1 where an account with a socket did not hear, 2 for wrong use.
"""

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from runs import drills
from runs.models import Drill, Tenant

LOOK = 0.1


class Command(BaseCommand):
    help = "Ask each connected worker account to hear a canary signal, and measure how fast it does."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="only this one")
        parser.add_argument("--wait", type=float, default=5.0, help="seconds for all to answer (default 5)")

    def handle(self, *args: Any, tenant: str | None, wait: float, **options: Any) -> None:
        place = Tenant.objects.filter(name=tenant).first() if tenant else None
        if tenant and place is None:
            raise CommandError(f"there is no tenant {tenant}", returncode=2)
        asked = drills.ask(place)
        end = time.monotonic() + wait
        while any(drill.heard_at is None for drill in drills.outcome(asked)) and time.monotonic() < end:
            time.sleep(LOOK)
        found = drills.outcome(asked)
        for drill in found:
            self.stdout.write(f"{drill.user.username}: {said(drill)}")
        if not found:
            self.stdout.write("No account holds a live token to execute.")
        if any(drill.sent_at and not drill.heard_at for drill in found):
            raise CommandError("not every account that has a socket heard", returncode=1)


def said(drill: Drill) -> str:
    if drill.sent_at is None:
        return "not reachable: it has no socket, so it hears by heartbeat only"
    if drill.heard_at is None:
        return "did NOT hear"
    return f"heard after {(drill.heard_at - drill.sent_at).total_seconds() * 1000:.0f} ms"
