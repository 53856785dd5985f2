"""An archive as a file: JSON Lines, each canonical JSON. A first line, a certificate for each job, a last
line that counts them, digests all before it and is signed. Written and checked in one pass, one line in
memory.

It knows nothing of what may be archived, nor of the database: that is `runs.commands.archive`.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

from runs.audit.findings import Finding
from runs.certificates import wrong_with
from runs.errors import FieldError, Invalid
from runs.ledger import as_text
from runs.protocol.canonical import canonical
from runs.protocol.json_door import parse
from runs.signing import holds, signed

FORMAT = "cancelboard archive 1"
END = "cancelboard archive 1 end"
LONGEST = 64 * 1024 * 1024  #: bytes of one line: a job whose receipts need more is damage


@dataclass
class Sum:
    """What the last line says of the lines before it."""

    jobs: int = 0
    receipts: int = 0
    hash: Any = field(default_factory=sha256)

    def take(self, raw: bytes, line: Any) -> None:
        self.hash.update(raw)
        if "receipts" in line:
            self.jobs += 1
            self.receipts += len(line["receipts"])

    @property
    def facts(self) -> dict[str, Any]:
        return {"jobs": self.jobs, "receipts": self.receipts, "digest": self.hash.hexdigest()}


class Writer:
    """Writes FILE.part, from where an earlier run of it was cut off, and calls it FILE when it is whole."""

    def __init__(self, file: Path, tenant: str, sealed_generation: int, now: datetime) -> None:
        self.file, self.part = file, file.with_name(file.name + ".part")
        self.sum, self.last_job = Sum(), ""
        begin: dict[str, Any] = {"format": FORMAT, "tenant": tenant, "begun_at": as_text(now)}
        self.begin = {**begin, "sealed_generation": sealed_generation}
        self.out: IO[bytes]

    def __enter__(self) -> "Writer":
        # Not everybody might read what is in it: so with the file.
        self.out = os.fdopen(os.open(self.part, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        try:
            self._go_on()
        except BaseException:
            self.out.close()
            raise
        return self

    def _go_on(self) -> None:
        """Behind the last whole line that is there."""
        end = 0
        for raw in self.out:
            if not raw.endswith(b"\n"):
                break  # cut off in the middle of a line
            line = parse(raw)
            if not end:
                self._same(line)
            if line["format"] == END:
                break
            self.sum.take(raw, line)
            self.last_job = line["job"]["job_id"] if "job" in line else ""
            end += len(raw)
        self.out.seek(end)
        self.out.truncate()
        if not end:
            self.line(self.begin)

    def __exit__(self, *_: object) -> None:
        self.out.close()

    def _same(self, line: Any) -> None:
        mine = isinstance(line, dict) and line.get("format") == FORMAT
        if not mine or line.get("tenant") != self.begin["tenant"]:
            raise Invalid(FieldError("file", "is no archive of this tenant"))
        self.begin = line

    @property
    def sealed_generation(self) -> int:
        """The first line's: a run that goes on holds to what it began with."""
        generation: int = self.begin["sealed_generation"]
        return generation

    def line(self, line: dict[str, Any]) -> None:
        raw = canonical(line).encode() + b"\n"
        self.out.write(raw)
        self.sum.take(raw, line)

    def end(self, now: datetime) -> None:
        """On the disk, under its own name, before anything relies on it."""
        last = signed({"format": END, **self.sum.facts, "ended_at": as_text(now)})
        self.out.write(canonical(last).encode() + b"\n")
        self.out.flush()
        os.fsync(self.out.fileno())
        os.rename(self.part, self.file)
        folder = os.open(self.file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@dataclass
class Told:
    """What a checked archive says: its first line, its last, and for each job how far its receipts go."""

    first: dict[str, Any] = field(default_factory=dict)
    last: dict[str, Any] = field(default_factory=dict)
    heads: dict[str, tuple[int, str]] = field(default_factory=dict)


def is_archive(file: Path) -> bool:
    """By its first line: anything else is none."""
    with file.open("rb") as read:
        return FORMAT.encode() in read.readline(4096)


def checked(file: Path) -> tuple[Told, list[Finding]]:
    """What is in the file, and everything that is wrong with it; it holds where that is nothing."""
    told = Told()
    return told, list(_check(file, told))


def _check(file: Path, told: Told) -> Iterator[Finding]:
    sum_ = Sum()
    with file.open("rb") as lines:
        for n, raw in enumerate(iter(lambda: lines.readline(LONGEST), b""), 1):
            if told.last:
                yield Finding("form", f"line {n}", "nothing behind the last line", len(raw))
                return
            try:
                line = parse(raw)
            except Invalid as unreadable:
                yield Finding("form", f"line {n}", "strict JSON", str(unreadable))
                return
            if not isinstance(line, dict) or raw != canonical(line).encode() + b"\n":
                yield Finding("form", f"line {n}", "one canonical JSON object", "something else")
                return
            if n == 1:
                told.first = line
            elif line.get("format") == END:
                told.last = line
                yield from _last(line, sum_)
                continue
            else:
                yield from _job(line, n, told)
            sum_.take(raw, line)
    if not told.last:
        yield Finding("form", "file", "a last line", "none: it was cut off")


def _job(line: dict[str, Any], n: int, told: Told) -> Iterator[Finding]:
    wrong = wrong_with(line)
    yield from (Finding(each.rule, f"line {n}: {each.where}", each.expected, each.found) for each in wrong)
    if wrong:
        return
    job = line["job"]
    place = f"line {n}: {job['job_id']}"
    if job["tenant"] != told.first["tenant"]:
        yield Finding("form", f"{place}: tenant", told.first["tenant"], job["tenant"])
    if job["generation"] > told.first["sealed_generation"]:
        yield Finding("form", f"{place}: generation", "a sealed one", job["generation"])
    if job["job_id"] in told.heads:
        yield Finding("form", place, "once", "twice")
    told.heads[job["job_id"]] = (job["seq"], job["head_digest"])


def _last(line: dict[str, Any], sum_: Sum) -> Iterator[Finding]:
    for name, value in sum_.facts.items():
        if line.get(name) != value:
            yield Finding("digest", f"last line: {name}", value, line.get(name))
    if line.get("signature") is not None and not holds(line):
        yield Finding("signature", "last line: signature", "one by the key that it names", line["signature"])
