"""What templates are given: prepared, translated, free of queries. A template prints these and compares
nothing."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Chip:
    label: str
    token: str
    icon: str
    edge: str = "solid"


@dataclass(frozen=True)
class Link:
    label: str
    url: str


@dataclass(frozen=True)
class Age:
    """How long ago: in words, and as a share of the target (0 to 100)."""

    text: str
    since: datetime
    today: bool
    tone: str = ""
    fill: int = 0
    target: int = 0  #: in seconds; the page lets the age grow towards it


@dataclass(frozen=True)
class Fact:
    label: str
    value: str = ""
    url: str = ""
    tone: str = ""
    at: datetime | None = None
    note: str = ""
    code: bool = False


@dataclass(frozen=True)
class Cannot:
    """What this person can't do here, why, and what would change it. `icon`: no-entry, lock or people."""

    label: str
    reason: str
    icon: str
    way: Link | None = None


@dataclass(frozen=True)
class Action:
    label: str
    url: str
    primary: bool = False
    key: str = ""
    dialog: bool = True


@dataclass(frozen=True)
class Notice:
    lead: str
    text: str = ""
    icon: str = "triangle"
    token: str = "info"
    link: Link | None = None


@dataclass(frozen=True)
class Page:
    """`total`: "" where nobody counted."""

    shown: int
    total: str = ""
    next: str = ""
    first: str = ""


@dataclass(frozen=True)
class Option:
    value: str
    label: str
    selected: bool


@dataclass(frozen=True)
class Filter:
    name: str
    label: str
    value: str
    options: list[Option]


@dataclass(frozen=True)
class Figure:
    id: str
    label: str
    value: str
    note: str = ""
    tone: str = ""


@dataclass(frozen=True)
class Empty:
    icon: str
    title: str
    text: str = ""
    link: Link | None = None


@dataclass(frozen=True)
class Person:
    name: str
    you: bool = True

    @property
    def initials(self) -> str:
        words = self.name.replace("-", " ").replace(".", " ").split()
        return ("".join(word[0] for word in words[:2]) if len(words) > 1 else self.name[:2]).upper()


@dataclass(frozen=True)
class NavItem:
    id: str
    label: str
    url: str
    icon: str
    count: str = ""
    hot: bool = False
    current: bool = False


@dataclass(frozen=True)
class NavGroup:
    title: str
    items: list[NavItem] = field(default_factory=list)
