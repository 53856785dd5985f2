"""`manage.py job`: one job and its newest receipts, when the page is down. Changes nothing."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from runs.management.shell import add_as, person, told
from runs.queries import jobs, receipts

from .jobs import as_json

FACTS = ("headline", "control", "result", "queue", "owner", "disputed", "paused_at", "spec_digest")
MOST_RECEIPTS = 20


class Command(BaseCommand):
    help = "One job as the person may see it: what was asked, what happened, its newest receipts."
    requires_system_checks: tuple[str, ...] = ()  # it needs the tables, not the pages

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("job")
        add_as(parser)
        parser.add_argument("--json", action="store_true", help="as the API shows it, without receipts")

    def handle(self, *args: Any, job: str, user: str, json: bool, **options: Any) -> None:
        actor = person(user)
        with told():
            found = jobs.one(actor, job)
            after = max(0, found["seq"] - MOST_RECEIPTS)
            kept = receipts.of_job(actor, job, after, MOST_RECEIPTS)["receipts"]
        if json:
            self.stdout.write(as_json(found))
            return
        for name in FACTS:
            self.stdout.write(f"{name}: {found[name]}")
        self.cancel_and_claim(found)
        for step in found["steps"]:
            value = f": {step['value']}" if step["value"] else ""
            disputed = ", disputed" if step["disputed"] else ""
            self.stdout.write(f"step {step['ordinal']} {step['label']}: {step['state']}{disputed}{value}")
        for receipt in kept:
            ordinal = "" if receipt["ordinal"] is None else f" step {receipt['ordinal']}"
            line = f"{receipt['kind']} {receipt['status']}{ordinal}, {receipt['actor']['name']}"
            self.stdout.write(f"{receipt['seq']}  {receipt['at']}  {line}")

    def cancel_and_claim(self, found: dict[str, Any]) -> None:
        if cancel := found["cancel"]:
            late = ", too late" if cancel["too_late"] else ""
            heard = f"heard {cancel['heard_at']}" if cancel["heard_at"] else "not heard"
            code, by, at = cancel["cause"]["code"], cancel["by"], cancel["at"]
            self.stdout.write(f"cancel: {code}, {by}, {at}{late}, {heard}")
        if claim := found["claim"]:
            live = "live" if claim["live"] else "lapsed"
            self.stdout.write(
                f"claim: {claim['worker']}, fence {claim['fence']}, {live}, lease {claim['lease_expires_at']}"
            )
