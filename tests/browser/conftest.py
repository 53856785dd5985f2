"""The demo as real processes (server, settle loop, workers, mail), and people who sit before a browser."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page

from tests.support.databases import Database
from tests.support.server import ROOT


@dataclass
class Demo:
    """`url`: the board; `house`: the mail house, where scenes are played."""

    url: str
    house: str
    password: str
    pid: int

    def play(self, scene: str) -> str:
        """Play a scene; returns the id of the job that it is about."""
        return self._job(httpx.post(f"{self.house}/play", data={"scene": scene}, timeout=60))

    def submit_late(self, job: str) -> str:
        answer = httpx.post(f"{self.house}/late", data={"job": job}, timeout=60)
        return re.search(r"<b>(\w+)</b>", answer.text)[1]  # type: ignore[index]

    def mailbox(self, key: str) -> str:
        return httpx.get(self.house, params={"key": key}, timeout=60).text

    def _job(self, answer: httpx.Response) -> str:
        return re.search(r"/jobs/([^/]+)/", answer.raise_for_status().text)[1]  # type: ignore[index]


def three_free_ports() -> int:
    """The first of three neighbours that are free."""
    for _ in range(50):
        with socket.socket() as first:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
        try:
            for each in range(port, port + 3):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", each))
        except OSError:
            continue
        return port
    raise RuntimeError("no three free ports in a row")


def children_of(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


@pytest.fixture
def demo(real_db: Database) -> Iterator[Demo]:
    """`manage.py demo` on this test's database; ended by Ctrl-C, after which no process of it is left."""
    port = three_free_ports()
    command = [sys.executable, "manage.py", "demo", "--port", str(port), "--mail-seconds", "8"]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=dict(real_db.environment),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    said: list[str] = []
    ready = threading.Event()

    def read() -> None:
        assert process.stdout
        for line in process.stdout:
            said.append(line)
            if "Ctrl-C ends everything" in line:
                ready.set()
        ready.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    ready.wait(120)
    password = re.search(r"Password of all of them: (\S+)", "".join(said))
    try:
        assert password, "".join(said)
        yield Demo(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}", password[1], process.pid)
    finally:
        started = children_of(process.pid)
        process.send_signal(signal.SIGINT)
        try:
            code = process.wait(60)
        finally:
            for pid in (process.pid, *started) if process.poll() is None else ():
                os.kill(pid, signal.SIGKILL)
        reader.join(10)
        assert process.stdout
        process.stdout.close()
    assert code == 0, "".join(said)
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()], "a process was left behind"


@pytest.fixture
def person(browser: Browser, demo: Demo) -> Iterator[Callable[[str], Page]]:
    """`person("sam")` is a page of sam's own browser window, signed in."""
    windows = []

    def sign_in(name: str) -> Page:
        window = browser.new_context(base_url=demo.url, viewport={"width": 1440, "height": 900})
        window.set_default_timeout(30_000)
        windows.append(window)
        page = window.new_page()
        page.goto("/login/")
        page.get_by_label("Username").fill(name)
        page.get_by_label("Password").fill(demo.password)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url("**/verify/")
        return page

    yield sign_in
    for window in windows:
        window.close()
