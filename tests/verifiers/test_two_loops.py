"""Two settle loops as processes: together no more look-ups at one receiver than allowed, each step asked
about once; one that is killed while it asks loses nothing."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from time import monotonic, sleep

import pytest

from runs import settle
from runs.models import Check, Receipt, Tool
from tests.board.cast import Stage
from tests.support.databases import Database
from tests.support.server import ROOT

from .conftest import STEP, TOOL, Oracle

JOBS = 6


@pytest.fixture
def stage(real_db: Database) -> Stage:
    made = Stage()
    Tool.objects.create(tenant=made.tenant, name=TOOL, verifier="oracle")
    return made


class Loops:
    """So many processes, each doing one pass; `go()` has the receiver answer."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database, self.folder = database, folder
        self.running: list[subprocess.Popen[str]] = []

    def start(self, count: int) -> None:
        given = {
            "FOLDER": str(self.folder),
            "CANCELBOARD_VERIFIERS": "oracle=tests.verifiers.two:patient",
            "CANCELBOARD_CHECKS_AT_ONCE": "3",
            "CANCELBOARD_CHECK_SECONDS": "60",
        }
        for _ in range(count):
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.verifiers.two"],
                cwd=ROOT,
                env=self.database.environment | given,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self.running.append(process)
        for process in self.running:
            assert process.stdin
            process.stdin.write("\n")
            process.stdin.flush()

    def wait_for(self, running: int) -> None:
        """Until one of them has ended, since it found no room: the other asks about so many."""
        deadline = monotonic() + 60
        ended = 0
        while not ended:
            assert monotonic() < deadline
            sleep(0.02)
            ended = sum(process.poll() is not None for process in self.running)
        assert Check.objects.filter(running_until__isnull=False).count() == running

    def go(self) -> None:
        (self.folder / "go").touch()

    def ended(self) -> list[str]:
        """What each of them asked about, once all have ended well."""
        said = [process.communicate(timeout=60)[0] for process in self.running]
        assert [process.returncode for process in self.running] == [0] * len(self.running)
        return "".join(said).split("\n")[:-1]


@pytest.fixture
def loops(real_db: Database, tmp_path: Path) -> Iterator[Loops]:
    made = Loops(real_db, tmp_path)
    yield made
    for process in made.running:
        process.kill()
        process.communicate()


def test_two_loops_keep_the_bound_together(stage: Stage, loops: Loops) -> None:
    for n in range(JOBS):
        stage.unknown(f"order-{n}", STEP)
    loops.start(2)
    loops.wait_for(running=3)
    loops.go()
    asked = loops.ended()
    assert len(asked) == len(set(asked)) == 3, "three at once, and each of them once"
    assert Receipt.objects.filter(kind="reconcile", status="settled").count() == 3


def test_a_loop_that_is_killed_while_it_asks_loses_nothing(
    stage: Stage, loops: Loops, verifier: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.unknown("order-1", STEP)
    loops.start(1)
    assert loops.running[0].stdout
    assert loops.running[0].stdout.readline() == "asking order-1\n"
    loops.running[0].kill()
    loops.running[0].wait()
    assert settle.one_pass()["check begun"] == 0, "its booking holds until it is taken for dead"
    stage.ago = timedelta(minutes=-3)
    monkeypatch.setattr("runs.ledger.clock", stage.clock)
    done = settle.one_pass()
    assert done["check begun"] == 1
    assert [question.job_id for question in verifier.asked] == ["order-1"]
