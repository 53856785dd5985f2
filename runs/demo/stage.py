"""Starts the demo as real processes (server, settle loop, workers), and ends every one of them by its pid."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx

from . import mailbox, office, verifier
from .scenes import Office

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 90.0  #: seconds for the server to answer its first request


@dataclass(frozen=True)
class Bill:
    """Who plays: what each may do, in words; their one password; the worker's token; who cancels in the scenes."""

    people: dict[str, str]
    password: str
    worker_token: str
    operator: str = "omar"


@dataclass
class Process:
    """A child in a session of its own, so that Ctrl-C reaches only the stage."""

    name: str
    popen: subprocess.Popen[bytes]

    @classmethod
    def start(cls, name: str, environment: dict[str, str], *arguments: str) -> "Process":
        command = [sys.executable, *arguments]
        return cls(
            name,
            subprocess.Popen(
                command,
                cwd=ROOT,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                env=os.environ | environment,
            ),
        )

    def stop(self) -> None:
        self.popen.terminate()
        try:
            self.popen.wait(15)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()


def play(port: int, bill: Bill, say: Callable[[str], None], *, mail_seconds: float = 4.0) -> None:
    """Serve the demo on `port` (board), `port + 1` (mail house) and `port + 2` (SMTP) until interrupted."""
    url = f"http://127.0.0.1:{port}"
    known = {"CANCELBOARD_VERIFIERS": f"{verifier.NAME}={verifier.PLACE}", verifier.PORT: str(port + 2)}
    with ExitStack() as stack:
        received = mailbox.Mailbox()
        smtp = mailbox.serve(received, port + 2, mail_seconds)
        stack.callback(smtp.stop)
        server = Process.start(
            "server",
            known,
            "-m",
            "daphne",
            "-v",
            "0",
            "-b",
            "127.0.0.1",
            "-p",
            str(port),
            "cancelboard.asgi:application",
        )
        stack.callback(server.stop)
        settle = Process.start("settle loop", known, "manage.py", "settle", "--every", "2")
        stack.callback(settle.stop)
        _wait_for(url, server)
        house = Office(url, port + 2, bill.worker_token, (bill.operator, bill.password), received)
        house.open(workers=2)
        stack.callback(house.close)
        pages = office.serve(house, port + 1)
        stack.callback(pages.server_close)
        for _ in range(2):
            house.mailing()
        say(_playbill(url, port + 1, bill))
        _until_one_ends(pages.handle_request, pages, server, settle)


def _wait_for(url: str, server: Process) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if server.popen.poll() is not None:
            raise SystemExit(f"The server ended at once (exit {server.popen.returncode}). Is the port taken?")
        try:
            httpx.get(f"{url}/login/", timeout=5)
            return
        except httpx.TransportError:
            time.sleep(0.2)
    raise SystemExit(f"The server did not answer at {url} within {PATIENCE:.0f} seconds.")


def _until_one_ends(handle: Callable[[], None], pages: object, *processes: Process) -> None:
    pages.timeout = 1.0  # type: ignore[attr-defined]
    while all(process.popen.poll() is None for process in processes):
        handle()
    ended = next(process for process in processes if process.popen.poll() is not None)
    raise SystemExit(f"The {ended.name} ended by itself (exit {ended.popen.returncode}); the demo stops.")


def _playbill(url: str, office_port: int, bill: Bill) -> str:
    lines = [
        "",
        f"  The board        {url}/",
        f"  The mail house   http://127.0.0.1:{office_port}/   (mailbox and scenes)",
        "",
        f"  Password of all of them: {bill.password}",
        *(f"    {name:6} {what}" for name, what in bill.people.items()),
        "",
        "  Two mailings are under way. Ctrl-C ends everything.",
        "",
    ]
    return os.linesep.join(lines)
