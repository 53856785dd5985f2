"""The runner: `python -m tests.mutants.run [--only WORDS] [--tables | --behaviour | --listed] [--jobs N]`.

Exit 0: every mutant was killed. 1: one survived. 2: nothing was learnt of one, or of any: it does not fit the
code any more, with it no test failed and not all passed, or they are not green without any mutant.
"""

import argparse
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import pytest

from tests.support.postgres import OwnPostgres

from . import listed, tables
from .mutant import ROOT, Mutant, Selection

LEFT_OUT = (".git", ".venv", "var", "node_modules", "__pycache__", ".*_cache", ".hypothesis", "*.egg-info")
PATIENCE = 5  #: times as long as without a mutant; then it hangs, and that is noticed too
QUICK = ("-q", "-x", "--tb=no", "--no-header", "-p", "no:randomly", "-p", "no:cacheprovider")

WARM = multiprocessing.get_context("forkserver")
WARM.set_forkserver_preload(["pytest", "django.db.models", "django.test", "pydantic", "psycopg", "rfc8785"])


@dataclass
class Ended:
    code: int | None  #: None: it took too long
    seconds: float
    first: str  #: the test that failed; else the end of what was printed
    told: bool  #: a test failed, or all passed: the mutant was really tried


@dataclass
class Copy:
    """A copy of the tree, in which one mutant lives at a time. Its byte code is the original's: a mutant's
    file is newer than that, and its own is never written."""

    folder: Path
    database: str

    def run(self, tests: Selection, timeout: float | None = None, writes_code: bool = True) -> Ended:
        began = time.monotonic()
        output = self.folder.with_name(f"{self.folder.name}.{threading.get_ident()}")
        arguments = [*QUICK, f"--db={tests.db}", *tests.arguments]
        process = WARM.Process(target=run_pytest, args=(self, arguments, output, writes_code))
        process.start()
        process.join(timeout)
        if too_long := process.exitcode is None:
            os.killpg(process.pid or 0, signal.SIGKILL)
            process.join()
        said = output.read_text(encoding="utf-8", errors="replace")
        failed = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
        first = failed[0].split(maxsplit=1)[1].split(" - ")[0] if failed else said[-300:]
        code = None if too_long else process.exitcode
        told = code in (0, None) or (code == pytest.ExitCode.TESTS_FAILED and bool(failed))
        return Ended(code, time.monotonic() - began, first.removeprefix("tests/"), told)

    def with_mutant(self, mutant: Mutant, timeout: float) -> Ended:
        file = self.folder / mutant.file
        before, text = file.read_bytes(), mutant.text(self.folder)
        file.write_text(text, encoding="utf-8")
        try:
            return self.run(mutant.tests, timeout, writes_code=False)
        finally:
            file.write_bytes(before)


def run_pytest(copy: Copy, arguments: list[str], output: Path, writes_code: bool) -> None:
    """In a process of its own, forked from one that has the libraries loaded but nothing of the tree."""
    os.setsid()
    with output.open("w") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    os.chdir(copy.folder)
    os.environ["TEST_DATABASE_URL"] = copy.database
    sys.dont_write_bytecode = not writes_code
    sys.path[:] = [str(copy.folder), *(path for path in sys.path if Path(path).resolve() != ROOT)]
    for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "runs", "cancelboard")]:
        del sys.modules[name]
    sys.exit(int(pytest.main(arguments)))


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server and the copies go too
    asked = arguments()
    chosen = [mutant for mutant in everything(asked) if asked.only in mutant.name]
    try:
        for mutant in chosen:
            mutant.text()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    server = OwnPostgres()
    try:
        with tempfile.TemporaryDirectory(prefix="cancelboard-mutants-") as home:
            return tried(chosen, Path(home), server.url, asked.jobs)
    finally:
        server.stop()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="WORDS", help="mutants whose name holds this")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--tables", action="store_true", help="only those made from the protocol's tables")
    which.add_argument("--behaviour", action="store_true", help="those too, but without the page beside them")
    which.add_argument("--listed", action="store_true", help="only those of the written list")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="so many at a time (2)")
    return parser.parse_args()


def everything(asked: argparse.Namespace) -> Iterable[Mutant]:
    if not asked.listed:
        yield from tables.mutants(tables.BEHAVIOUR if asked.behaviour else tables.TESTS)
    if not (asked.tables or asked.behaviour):
        yield from listed.MUTANTS


def tried(chosen: list[Mutant], home: Path, database: str, jobs: int) -> int:
    equal = [mutant for mutant in chosen if mutant.equal]
    chosen = [mutant for mutant in chosen if not mutant.equal]
    first = Copy(home / "copy", database)
    shutil.copytree(ROOT, first.folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    copies: SimpleQueue[Copy] = SimpleQueue()

    def ended_with(mutant: Mutant) -> Ended:
        copy = copies.get()
        try:
            ended = copy.with_mutant(mutant, max(60.0, PATIENCE * green[mutant.tests].seconds))
        finally:
            copies.put(copy)
        by = "SURVIVED" if ended.code == 0 else "time-out" if ended.code is None else ended.first
        by = by if ended.told else f"NOT TRIED: {by}"
        print(f"{ended.seconds:5.0f} s  {mutant.name:70}  {by}", flush=True)
        return ended

    with ThreadPoolExecutor(jobs) as pool:
        selections = list(dict.fromkeys(mutant.tests for mutant in chosen))
        green = dict(zip(selections, pool.map(first.run, selections), strict=True))
        for tests, ended in green.items():
            if ended.code != 0:
                print(f"not green without a mutant: {tests}\n{ended.first}", file=sys.stderr)
                return 2
        for n in range(jobs):
            copies.put(Copy(home / f"copy{n}", database))
            shutil.copytree(first.folder, home / f"copy{n}")
        try:
            ended = list(pool.map(ended_with, chosen))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    for mutant in equal:
        print(f"  equal  {mutant.name:70}  {mutant.equal}")
    learnt = [each for each in ended if each.told]
    survived = sum(each.code == 0 for each in learnt)
    print(
        f"{len(ended)} mutants, {len(learnt) - survived} killed, {survived} survived, "
        f"{len(ended) - len(learnt)} not tried; {len(equal)} equal by reason"
    )
    return 2 if len(learnt) < len(ended) else 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
