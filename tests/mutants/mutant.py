"""What a mutant is: one change of one file, and the tests that must notice it."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Selection:
    """What is run: arguments of pytest, on one engine."""

    arguments: tuple[str, ...]
    db: str = "sqlite"


@dataclass(frozen=True)
class Mutant:
    """`file` as it is, but for `old`, which stands there once and becomes `new`. `equal`: why nobody could
    tell it from the original; then no test is asked to."""

    name: str
    file: str
    old: str
    new: str
    tests: Selection
    equal: str = ""

    def text(self, root: Path = ROOT) -> str:
        """The file as the mutant has it. Raises ValueError where it no longer fits the code."""
        text = (root / self.file).read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(
                f"{self.name}: {self.file} holds {text.count(self.old)} times, not once:\n{self.old}"
            )
        return text.replace(self.old, self.new)
