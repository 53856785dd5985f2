"""The rows of claims and proposals beside the receipts that made them. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .canonical import canonical
from .findings import Finding
from .state import Fence, Job


class Fences:
    """The claims table of one job, walked along with its receipts: a row for each fence (I12)."""

    def __init__(self, tenant_id: int, rows: Iterator[Any]) -> None:
        self.tenant_id, self.rows = tenant_id, rows
        self.waiting = next(rows, None)
        self.newest: Any = None

    def expect(self, new: Fence) -> Iterator[Finding]:
        """The next row is this fence's. A token's hash is there exactly where there was a holder."""
        yield from self._without_receipt(before=new.fence)
        row = self.waiting
        if row is None or row.fence != new.fence:
            yield Finding("I12", f"claims row of fence {new.fence}", "one", "none")
            return
        self.newest, self.waiting = row, next(self.rows, None)
        same = {"tenant_id": self.tenant_id, "worker": new.worker, "user__name": new.by, "cause": new.cause}
        yield from differ("claims", f"of fence {new.fence}", {**same, "at": new.at}, row)
        if bool(row.token_hash) != bool(new.worker):
            there = "a hash" if new.worker else ""
            yield Finding("claims", f"token_hash of fence {new.fence}", there, row.token_hash)

    def end(self, job: Any) -> Iterator[Finding]:
        """No row is left, and the job's own hash is the newest fence's."""
        yield from self._without_receipt()
        newest = self.newest.token_hash if self.newest is not None else ""
        if job.claim_hash != newest:
            yield Finding("claims", "claim_hash", newest, job.claim_hash)

    def _without_receipt(self, before: int | None = None) -> Iterator[Finding]:
        while self.waiting is not None and (before is None or self.waiting.fence < before):
            yield Finding("I12", f"claims row of fence {self.waiting.fence}", "none without a receipt", "one")
            self.waiting = next(self.rows, None)


def differ(rule: str, whose: str, expected: Mapping[str, Any], row: Any) -> Iterator[Finding]:
    """A finding for each column that does not hold what it must."""
    for name, value in expected.items():
        if getattr(row, name) != value:
            yield Finding(rule, f"{name} {whose}".rstrip(), value, getattr(row, name))


def proposals(job: Job, tenant_id: int, rows: Iterable[Any]) -> Iterator[Finding]:
    """Every proposal that was entered has its row, which says what was entered and what became of it."""
    missing = dict(job.proposals)
    for row in rows:
        entered = missing.pop(row.proposal_id, None)
        if entered is None:
            yield Finding("proposals", f"row of proposal {row.proposal_id}", "none without a receipt", "one")
            continue
        same = ("seq", "ordinal", "outcome", "value", "version", "state", "at", "expires_at", "decided_at")
        expected = {name: getattr(entered, name) for name in same}
        expected |= {"evidence": canonical(entered.evidence), "tenant_id": tenant_id}
        expected |= {"by__name": entered.by, "decided_by__name": entered.decided_by}
        yield from differ("proposals", f"of proposal {row.proposal_id}", expected, row)
    for name in missing:
        yield Finding("proposals", f"row of proposal {name}", "one", "none")
