"""What an audit says: findings of one job, breaches of the whole database. Pure."""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any


def rendered(at: datetime) -> str:
    """A time as receipts show it: `YYYY-MM-DDTHH:MM:SS.ffffffZ`."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


@dataclass(frozen=True)
class Finding:
    """Something that is not as it must be. `rule`: I1 to I12, or `digest`, `spec`, `claims`, `proposals`."""

    rule: str
    where: str
    expected: Any
    found: Any

    def __str__(self) -> str:
        """One line, whatever was found: what can't be printed is escaped."""
        return line(f"{self.rule}: {self.where}: expected {text(self.expected)}, there is {text(self.found)}")


class UnreadableError(Exception):
    """A stored text does not hold what PROTOCOL says it holds, so nothing can be made of it."""

    def __init__(self, where: str, expected: Any, found: Any) -> None:
        super().__init__(where, expected, found)
        self.where, self.expected, self.found = where, expected, found

    def finding(self, rule: str) -> Finding:
        return Finding(rule, self.where, self.expected, self.found)


@dataclass(frozen=True)
class Breach:
    """A finding and whose it is; `job` is None for what belongs to no job."""

    tenant: str
    job: str | None
    rule: str
    where: str
    expected: Any
    found: Any

    def __str__(self) -> str:
        whose = f"job {text(self.job)}" if self.job is not None else "no job"
        finding = Finding(self.rule, self.where, self.expected, self.found)
        return f"{line(f'{whose} of {text(self.tenant)}')}: {finding}"

    def as_json(self) -> str:
        return json.dumps(asdict(self), default=_plain)


def breach(tenant: str, job: str | None, finding: Finding) -> Breach:
    return Breach(tenant, job, finding.rule, finding.where, finding.expected, finding.found)


def line(said: str) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in said)


def text(value: Any) -> str:
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> str:
    return rendered(value) if isinstance(value, datetime) else str(value)
