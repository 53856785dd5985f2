"""How often a principal may ask: a bucket for each, in this process's memory. No right, no record."""

from dataclasses import dataclass
from threading import Lock
from time import monotonic

from django.conf import settings

from runs.errors import TooMany


@dataclass
class Bucket:
    tokens: float
    at: float


_buckets: dict[int, Bucket] = {}  # at most one for each principal there is
_lock = Lock()


def take(principal: int) -> None:
    """One request of this principal, now. Raises TooMany.

    At most settings.CANCELBOARD_RATE at once, and as many in each second; 0: no limit.
    """
    rate = settings.CANCELBOARD_RATE
    if rate and not _taken(principal, rate, monotonic()):
        raise TooMany(f"More than {rate} requests a second by this principal.", retry_after=1)


def _taken(principal: int, rate: int, now: float) -> bool:
    with _lock:
        bucket = _buckets.setdefault(principal, Bucket(rate, now))
        bucket.tokens = min(rate, bucket.tokens + (now - bucket.at) * rate)
        bucket.at = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True
