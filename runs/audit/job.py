"""One job: its receipts are walked once, and then its rows are held against what they add up to. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from . import compare, invariants, keyed
from .chain import Chain, read
from .findings import Finding, UnreadableError
from .receipts import Receipt
from .replay import begin, follow
from .state import Job


def check(rows: Any) -> Iterator[Finding]:
    """All findings of one job; `rows` is a rows.JobRows."""
    row, steps = rows.job, list(rows.steps)
    walk, fences = Walk(), keyed.Fences(row.tenant_id, rows.claims)
    for tenant_id, receipt in rows.receipts:
        yield from _belongs(row, tenant_id, receipt)
        yield from walk.take(receipt)
        if walk.job is not None and walk.job.new_fence:
            yield from fences.expect(walk.job.new_fence)
    yield from invariants.broken(row, steps)
    yield from _in_tenant(row, steps)
    yield from _parent(row)
    if walk.job is None:
        yield Finding("I9", "receipts", "a first one that can be replayed", walk.chain.seq)
        return
    yield from compare.differences(walk.job, walk.chain, row, steps)
    yield from fences.end(row)
    yield from keyed.proposals(walk.job, row.tenant_id, rows.proposals)


@dataclass
class Walk:
    """From receipt to receipt: the chain so far, and the job that they add up to (None before the first)."""

    chain: Chain = field(default_factory=Chain)
    job: Job | None = None

    def take(self, receipt: Receipt) -> Iterator[Finding]:
        """The next receipt, and what is wrong with it here."""
        yield from self.chain.link(receipt)
        r, found = read(receipt)
        yield from found
        if self.job is not None:
            self.job.new_fence = None
        try:
            if r is not None and self.job is not None:
                yield from follow(self.job, r)
            elif r is not None and self.chain.seq == 1:
                self.job = begin(r)
        except UnreadableError as broken:
            yield broken.finding("I9")
        except OverflowError:
            yield Finding("I9", f"times of {receipt}", "in the calendar", "beyond it")
        if self.job is not None:
            yield from self.job.take_findings()


def _belongs(row: Any, tenant_id: int, receipt: Receipt) -> Iterator[Finding]:
    if (tenant_id, receipt.job_id) != (row.tenant_id, row.job_id):
        found = {"tenant": tenant_id, "job_id": receipt.job_id}
        yield Finding("I10", f"whose {receipt} is", {"tenant": row.tenant_id, "job_id": row.job_id}, found)


def _in_tenant(row: Any, steps: list[Any]) -> Iterator[Finding]:
    for step in steps:
        if step.tenant_id != row.tenant_id:
            yield Finding("spec", f"tenant of step {step.ordinal}", row.tenant_id, step.tenant_id)


def _parent(row: Any) -> Iterator[Finding]:
    """An admitted job's row points at the parent that its spec names, one level up; a tombstone's at none."""
    expected = (row.parent_ref, row.tenant_id) if row.parent_ref and row.admitted else (None, None)
    if (found := (row.parent__job_id, row.parent__tenant_id)) != expected:
        yield Finding("spec", "parent and its tenant", expected, found)
    depth = 0 if row.parent__depth is None else row.parent__depth + 1
    if row.depth != depth:
        yield Finding("spec", "depth", depth, row.depth)
    _, at, digits = row.job_id.rpartition("@")
    generation = int(digits) if at and digits.isdigit() else 0
    if row.generation != generation:
        yield Finding("spec", "generation", generation, row.generation)
