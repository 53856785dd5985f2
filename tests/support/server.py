"""Runs the real server as a process, on a free port of this machine, and stops it by its process id."""

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LISTENING = re.compile(r"Listening on TCP address ([0-9.]+):([0-9]+)")


@dataclass
class Served:
    """A running daphne. `url` has no slash at its end; `log` grows while it runs."""

    environment: Mapping[str, str]
    application: str = "cancelboard.asgi:application"
    log: list[str] = field(default_factory=list)
    url: str = ""
    asked_to_stop: bool = False

    def start(self, patience: float = 30) -> "Served":
        """Returns when it listens. Raises AssertionError, with its log, when it does not."""
        command = [sys.executable, "-m", "daphne", "-b", "127.0.0.1", "-p", "0", self.application]
        self.process = subprocess.Popen(
            command,
            env=dict(self.environment),
            cwd=ROOT,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.settled = threading.Event()  # it listens, or has ended
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.settled.wait(patience)
        assert self.url, "the server does not listen:\n" + "".join(self.log)
        return self

    def read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.log.append(line)
            if found := LISTENING.search(line):
                self.url = f"http://{found[1]}:{found[2]}"
                self.settled.set()
        self.settled.set()

    @property
    def sockets(self) -> str:
        return self.url.replace("http", "ws", 1)

    def terminate(self) -> None:
        """Asks it to stop, once (a second signal means "at once"), and returns without waiting."""
        if self.asked_to_stop or self.process.poll() is not None:
            return
        self.asked_to_stop = True
        self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL: nothing is tidied up. It may be started again, on another port."""
        self.process.kill()
        self.process.wait()
        self.reader.join(5)
        assert self.process.stdout
        self.process.stdout.close()

    def stop(self, patience: float = 15) -> int:
        """Asks it to stop (unless it has) and returns its exit code. A server that does not end is killed."""
        self.terminate()
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the server did not stop:\n" + "".join(self.log)) from None
        finally:
            self.reader.join(5)
            assert self.process.stdout
            self.process.stdout.close()
