"""An agent's loop, subprocesses and threads: each ends within its bound, and nothing new is started."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from runs.adapters.loops import turns
from runs.adapters.processes import run_process
from runs.adapters.threads import StillRunning, Threads
from runs.worker import Cancelled, CancelToken

from .conftest import AT_ONCE, GOAL, Watch


def test_a_loop_takes_no_further_turn(token: CancelToken) -> None:
    taken = list[int]()
    with pytest.raises(Cancelled) as told:  # noqa: PT012 (the loop is what ends)
        for turn in turns(token):
            taken.append(turn)
            if turn == 2:
                token.cancel(GOAL)
    assert taken == [0, 1, 2]
    assert told.value.cause == GOAL
    assert list(turns(CancelToken(), at_most=3)) == [0, 1, 2]


# Says that it is ready, and how it takes a TERM; its child holds the pipe too.
PROCESS = """
import signal, subprocess, sys, time
kind = sys.argv[1]
if kind == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if kind == "parent":
    child = subprocess.Popen([sys.executable, __file__, "stubborn", sys.argv[2] + ".child"])
if kind == "polite":
    def end(*_):
        print("cleaned up", flush=True)
        sys.exit(3)
    signal.signal(signal.SIGTERM, end)
open(sys.argv[2], "w").write(str(__import__("os").getpid()))
print("begun", flush=True)
time.sleep(60)
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    file = tmp_path / "program.py"
    file.write_text(PROCESS)
    return str(file)


def cancel_when(files: list[Path], watch: Watch, token: CancelToken, grace: float | None = None) -> None:
    def cancel() -> None:
        until = time.monotonic() + 20
        while time.monotonic() < until and not all(file.exists() and file.read_text() for file in files):
            time.sleep(0.01)
        watch.cancel(token, grace)

    threading.Thread(target=cancel, daemon=True).start()


def gone(file: Path) -> bool:
    """Whether that process ends (one that nobody reaped yet has): a kill takes a moment."""
    until = time.monotonic() + AT_ONCE
    while time.monotonic() < until:
        try:
            stat = Path(f"/proc/{file.read_text()}/stat").read_text()
        except FileNotFoundError:
            return True
        if stat.rsplit(")")[1].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    ("kind", "code", "least"),
    [("polite", 3, 0.0), ("stubborn", -9, 0.3), ("parent", -15, 0.3)],
)
def test_a_process_is_terminated_and_killed_after_its_grace(
    kind: str, code: int, least: float, program: str, tmp_path: Path, token: CancelToken, watch: Watch
) -> None:
    pids = [tmp_path / "pid"] + ([tmp_path / "pid.child"] if kind == "parent" else [])
    cancel_when(pids, watch, token)
    command = [sys.executable, program, kind, str(pids[0])]
    with pytest.raises(Cancelled) as told:
        run_process(token, command, grace=0.3, stdout=subprocess.PIPE, text=True)
    assert least <= watch.took < 0.3 + AT_ONCE
    assert told.value.cause == GOAL
    (note,) = told.value.__notes__
    assert f"ended with {code}:" in note
    assert "begun" in note
    assert ("cleaned up" in note) == (kind == "polite")
    assert all(gone(pid) for pid in pids)


def test_an_abort_kills_a_process_before_its_grace_has_ended(
    program: str, tmp_path: Path, token: CancelToken, watch: Watch
) -> None:
    cancel_when([tmp_path / "pid"], watch, token, grace=0.05)
    with pytest.raises(Cancelled):
        run_process(token, [sys.executable, program, "stubborn", str(tmp_path / "pid")], grace=60)
    assert watch.took < AT_ONCE


def test_a_process_that_ends_by_itself_is_what_it_is(token: CancelToken) -> None:
    done = run_process(token, [sys.executable, "-c", "print(1); exit(4)"], stdout=subprocess.PIPE, text=True)
    assert (done.returncode, done.stdout) == (4, "1\n")


def test_no_process_is_started_after_the_cancel(token: CancelToken, tmp_path: Path) -> None:
    token.cancel(GOAL)
    with pytest.raises(Cancelled):
        run_process(token, ["touch", str(tmp_path / "started")])
    assert os.listdir(tmp_path) == []


def test_threads_are_told_and_waited_for(token: CancelToken, watch: Watch) -> None:
    heard = list[object]()
    out = threading.Barrier(3, timeout=20)

    def search(mine: CancelToken, where: str) -> str:
        out.wait()
        assert mine.wait(20)
        heard.append(mine.cause)
        return where

    with pytest.raises(Cancelled) as told, Threads(token, grace=20) as threads:  # noqa: PT012
        results = [threads.start(search, "here"), threads.start(search, "there")]
        out.wait()
        watch.cancel(token)
        with pytest.raises(Cancelled):
            threads.start(search, "too late")
    assert watch.took < AT_ONCE
    assert told.value.cause == GOAL
    assert heard == [GOAL, GOAL]
    assert [each.result(0) for each in results] == ["here", "there"]


def test_a_thread_that_heeds_nothing_is_named_when_its_grace_has_ended(
    token: CancelToken, watch: Watch
) -> None:
    free = threading.Event()

    def deaf(_: CancelToken) -> None:
        free.wait(20)

    with pytest.raises(StillRunning, match="deaf"), Threads(token, grace=0.1) as threads:  # noqa: PT012
        threads.start(deaf)
        watch.cancel(token)
    assert 0.1 <= watch.took < 0.1 + AT_ONCE
    free.set()


def test_a_thread_that_fails_stops_the_others(token: CancelToken) -> None:
    causes = list[str]()

    def waits(mine: CancelToken) -> None:
        assert mine.wait(20)
        assert mine.cause is not None
        causes.append(mine.cause.short)

    def fails(_: CancelToken) -> None:
        raise ValueError("no such table")

    with pytest.raises(ExceptionGroup) as raised, Threads(token) as threads:  # noqa: PT012
        threads.start(waits)
        threads.start(fails)
    assert [str(error) for error in raised.value.exceptions] == ["no such table"]
    assert causes == ["no such table"]
    assert not token.cancelled


def test_threads_that_finish_are_results(token: CancelToken) -> None:
    def double(_: CancelToken, number: int) -> int:
        return 2 * number

    with Threads(token) as threads:
        results = [threads.start(double, n) for n in range(5)]
    assert [each.result() for each in results] == [0, 2, 4, 6, 8]
