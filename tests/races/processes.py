"""The processes that meet. They stay alive from test to test; each test points them at its own database."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from queue import Queue
from threading import Thread
from typing import Any

from tests.support.databases import Database
from tests.support.server import ROOT

from .meeting import PATIENCE
from .pairs import Asked, Lose, Settle
from .scene import Scene

Side = Asked | Settle | Lose


class Process:
    """`module` is run; it reads a turn a line, and answers as process.py says."""

    def __init__(self, module: str = "tests.races.process") -> None:
        environment = os.environ | {"DJANGO_SETTINGS_MODULE": "cancelboard.settings", "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", module],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.lines: Queue[str] = Queue()
        self.over = False  #: the answers of this turn have come
        self.reader = Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.over = self.over or line.startswith("[")
            self.lines.put(line.rstrip("\n"))
        self.lines.put("ended")

    def _write(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def prepare(self, database: Database, asks: Sequence[Any], stop: bool = False) -> None:
        self.tell({"database": database.url, "asks": asks, "stop": stop})

    def tell(self, turn: dict[str, Any]) -> None:
        self.over = False
        self._write(json.dumps(turn))
        self.expect("ready")

    def go(self) -> None:
        self._write("go")

    def expect(self, word: str) -> None:
        said = self.lines.get(timeout=PATIENCE)
        assert said == word, f"a process said {said!r} instead of {word!r}"

    def answers(self) -> list[Any]:
        while not (said := self.lines.get(timeout=PATIENCE)).startswith("["):
            assert said == "asked", f"a process said {said!r}"
        return list(json.loads(said))

    def stop(self) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        try:
            self.process.wait(10)
        finally:
            self.process.kill()
            self.process.wait()
            self.reader.join(10)
            self.process.stdout.close()


def asked(scene: Scene, side: Side) -> tuple[Any, ...]:
    """What a process is told of it."""
    match side:
        case Asked(command, job_id, who, body):
            return scene.tenant.name, who, command, job_id, scene.filled(command, job_id, body)
        case Settle():
            return scene.tenant.name, "system", "settle", None, {}
        case Lose(action):
            return scene.tenant.name, "ada", "lose", None, {"grant": scene.held(action)}


def running(number: int, module: str = "tests.races.process") -> Iterator[list[Process]]:
    processes = [Process(module) for _ in range(number)]
    yield processes
    for process in processes:
        process.stop()
