"""Has people told of what stays unknown. What is due and what was told: `runs.alerts`."""

from collections import Counter
from functools import partial
from typing import Any

from runs import alerts, ledger
from runs.asides import Asides

SECONDS = 60  #: a channel minds its own time; this is for one that does not


def start(asides: Asides) -> Counter[str]:
    """Make the alerts that are due, and begin telling what waits. Returns how many are new."""
    done = Counter({"alert": alerts.raise_due(ledger.clock())})
    for batch in alerts.take(ledger.clock()):
        tell = partial(alerts.tell, batch.channel, batch.alerts)
        asides.start(f"alert {batch.channel}", tell, partial(_record, batch), SECONDS)
    return +done


def _record(batch: alerts.Batch, result: Any) -> str:
    trouble = f"{type(result).__name__}: {result}" if isinstance(result, BaseException) else ""
    return f"alert {batch.channel} {alerts.mark(batch, trouble, ledger.clock())}"
