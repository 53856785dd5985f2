"""Reads docs/protocol.md: its tables of section 4 as lists of answers, and its paragraphs as text."""

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
ANSWER = re.compile(r"^(?P<statuses>`.+?`) (?P<code>\d{3})(?P<rest>.*)$")


@dataclass(frozen=True)
class Answer:
    """What one row answers: its word and HTTP code, whether a receipt is kept, whether it repeats one."""

    status: str
    code: int
    kept: bool
    replayed: bool = False

    def __str__(self) -> str:
        return f"{self.status} {self.code}{' ✎' if self.kept else ''}{', replayed' if self.replayed else ''}"


def section(command: str) -> str:
    """The text under `### command …`, to the next heading; two commands may share one (`pause / resume`)."""
    for part in re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]:
        title, _, text = part.partition("\n")
        if command in re.split(r"[^a-z_]+", title.partition("`")[0]):
            return re.split(r"^#", text, maxsplit=1, flags=re.MULTILINE)[0]
    raise LookupError(f"the page has no heading for {command}")


def table(command: str) -> list[tuple[str, list[Answer]]]:
    """The rows of a command's table: when, and the answers (one, or several for one condition)."""
    lines = [line for line in section(command).splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return [(when, answers(answer)) for when, answer, _ in cells]


def answers(cell: str) -> list[Answer]:
    found = ANSWER.match(cell)
    assert found, f"a row of the page answers {cell!r}: no status and code"
    words = re.findall(r"`(\w+)`", found["statuses"])
    rest = found["rest"]
    return [
        Answer(word, int(found["code"]), rest.startswith(" ✎"), rest.startswith(", replayed"))
        for word in words
    ]
