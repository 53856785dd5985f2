"""`manage.py` in this process: its exit code, and what it printed."""

from typing import NamedTuple

from django.core.management import ManagementUtility


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def manage(*arguments: str) -> int:
    """The exit code; a command that ends by itself ended well."""
    try:
        ManagementUtility(["manage.py", *arguments]).execute()
    except SystemExit as end:
        return int(end.code or 0)
    return 0
