"""The headline as SQL, a condition for each code: equal to `protocol.headline` row by row (a test proves it).

Written positively and disjoint, so that each one can use an index; what a headline means is docs/http.md's.
"""

from django.db.models import Q

_job = Q(admitted=True)
_acknowledged = _job & Q(control="acknowledged")
_requested = _job & Q(control="requested")
_running = _job & Q(control="run")
_open = _running & Q(result="open")

HEADLINES: dict[str, Q] = {
    "blocked_before_start": Q(admitted=False),
    "stopped": _acknowledged & Q(result="open"),
    "completed_despite_cancel": _acknowledged & Q(result="succeeded"),
    "stopped_after_failure": _acknowledged & Q(result="failed"),
    "verifying_unknown": _requested & Q(cur="unknown"),
    "verifying": _requested & Q(cur="inflight"),
    "stopping": _requested & Q(unsettled_since__isnull=True),
    "completed": _running & Q(result="succeeded", too_late=False),
    "failed": _running & Q(result="failed", too_late=False),
    "completed_cancel_too_late": _running & Q(result="succeeded", too_late=True),
    "failed_cancel_too_late": _running & Q(result="failed", too_late=True),
    "outcome_unknown": _open & Q(cur="unknown"),
    "working": _open & Q(cur="inflight"),
    "paused": _open & Q(cur="pending", paused_at__isnull=False),
    "ready": _open & Q(cur="pending", paused_at__isnull=True),
}
