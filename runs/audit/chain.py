"""Digests and numbering: whether receipts are the ones that were written, all of them, in their order (I10).

Knows nothing of what receipts mean. Pure: it verifies a chain from JSON as well as from a database.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .canonical import canonical, digest
from .findings import Finding, UnreadableError
from .receipts import NO_DIGEST, Read, Receipt


def read(receipt: Receipt) -> tuple[Read | None, list[Finding]]:
    """One receipt read, None where its texts can't be; and what is wrong with it by itself."""
    try:
        shown = receipt.shown()
        return Read(receipt, shown["body"], shown["detail"]), list(_untrue(receipt, shown))
    except UnreadableError as broken:
        return None, [broken.finding("digest")]
    except RecursionError:
        return None, [Finding("digest", str(receipt), "JSON that can be read", "nested too deeply")]


def _untrue(receipt: Receipt, shown: dict[str, Any]) -> Iterator[Finding]:
    texts = {"body": receipt.body_text, "detail": receipt.detail_text}
    for name, text in texts.items():
        if text != (true := canonical(shown[name])):
            yield Finding("digest", f"{name} of {receipt}, canonical", true, text)
    if receipt.digest != (true := digest(shown)):
        yield Finding("digest", f"digest of {receipt}", true, receipt.digest)


@dataclass
class Chain:
    """One job's chain so far: the last number, digest and time."""

    seq: int = 0
    head: str = NO_DIGEST
    at: datetime | None = None

    def link(self, receipt: Receipt) -> Iterator[Finding]:
        """The next receipt: numbered next, covering the last one, not before it in time."""
        if receipt.seq != self.seq + 1:
            yield Finding("I10", f"number of {receipt}", self.seq + 1, receipt.seq)
        if receipt.prev_digest != self.head:
            yield Finding("I10", f"prev_digest of {receipt}", self.head, receipt.prev_digest)
        if self.at and receipt.at < self.at:
            yield Finding("I10", f"time of {receipt}, not before", self.at, receipt.at)
        self.seq, self.head, self.at = receipt.seq or 0, receipt.digest, receipt.at
