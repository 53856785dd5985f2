"""How much a test tries: what fits into `make test`, or with PROVE=1 (`make prove`, `-m prove`) far more.

A test that has more to try carries the mark `prove` and asks `scale`.
"""

import os
from typing import TypeVar

T = TypeVar("T")

PROVE = os.environ.get("PROVE") == "1"


def scale(short: T, long: T) -> T:
    """`short` in `make test`, `long` in `make prove`."""
    return long if PROVE else short
