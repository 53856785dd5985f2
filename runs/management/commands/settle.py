"""`manage.py settle`: the settle loop, or one pass of it."""

import signal
from argparse import ArgumentParser
from threading import Event
from typing import Any

from django.core.management.base import BaseCommand
from prometheus_client import start_http_server

from runs import settle, tallies


class Command(BaseCommand):
    help = (
        "Confirm stops, lapse leases, escalate and expire what is due. Any number of loops may run at once."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="one pass, then end")
        parser.add_argument(
            "--recount", action="store_true", help="count again what Insights shows, then end"
        )
        parser.add_argument("--every", type=float, default=5.0, metavar="SECONDS", help="between passes (5)")
        parser.add_argument("--metrics", type=int, metavar="PORT", help="for Prometheus, on 127.0.0.1")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["recount"]:
            self.stdout.write(f"{tallies.recount()} receipts counted again")
            return
        if options["once"]:
            done = settle.one_pass()
            self.stdout.write(
                ", ".join(f"{count} {status}" for status, count in done.items()) or "nothing was due"
            )
            return
        if options["metrics"]:
            start_http_server(options["metrics"], addr="127.0.0.1")
        stop = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        settle.loop(options["every"], stop)
