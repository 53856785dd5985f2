"""How far a search goes: which small job, and which words may be said of it."""

from dataclasses import dataclass, fields

from tests.support.scale import scale


@dataclass(frozen=True)
class Bound:
    steps: int
    dispatch: str
    needs: str = "1"  #: how many people a reconcile needs
    children: bool = False  #: whether a child may join and end
    sealed: bool = False  #: whether its generation may be sealed at any moment
    escalates: bool = False  #: whether the grace of a cancel ends
    words: int = 1  #: how many different testimonies are kept at once
    values: tuple[str, ...] = ("a",)  #: what an `ok` may carry
    attempts: tuple[str | None, ...] = ("x",)  #: what a reservation may name

    def __str__(self) -> str:
        changed = [
            f"{f.name}={getattr(self, f.name)}"
            for f in fields(self)[2:]
            if getattr(self, f.name) != f.default
        ]
        return " ".join((str(self.steps), self.dispatch, *changed))


#: Every run, with the number of places that each has.
SHORT = {
    Bound(1, "unmarked", words=3): 782,
    Bound(1, "unmarked", sealed=True, words=0): 484,
    Bound(1, "unmarked", children=True, escalates=True, words=0): 658,
    Bound(1, "unmarked", needs="2", words=0): 2042,
    Bound(1, "marked", attempts=(None, "x")): 1230,
    Bound(2, "unmarked", words=0): 654,
    Bound(2, "marked", words=0): 852,
}

#: More words and values, a third step, children and two people with marks.
DEEP = {
    Bound(1, "marked", words=4, values=("", "a", "b")): 4910,
    Bound(1, "marked", children=True, escalates=True, words=0): 886,
    Bound(1, "marked", needs="2", words=0): 2108,
    Bound(1, "marked", needs="2 for did-not-happen"): 4446,
    Bound(2, "marked"): 2486,
    Bound(2, "marked", words=2, attempts=(None, "x")): 8328,
    Bound(3, "marked", words=0): 1940,
}

BOUNDS = scale(SHORT, SHORT | DEEP)
