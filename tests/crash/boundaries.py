"""Where a process can die in its work with a database: found by watching what it asks of the database."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from tests.support.scale import scale

#: After which statements: each write; in the long run each statement, so also with every lock held.
STATEMENTS = re.compile(scale(r"\s*(INSERT|UPDATE|DELETE)", ""))


@contextmanager
def watched(reached: Callable[[str], None]) -> Iterator[None]:
    """Calls `reached` with a name at each boundary of this thread: before its first statement, after each
    write, right before each commit and right after it."""
    commit, begun = connection._commit, False

    def gate(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal begun
        if not begun:
            begun = True
            reached("before " + sql)
        result = execute(sql, params, many, context)
        if STATEMENTS.match(sql):
            reached("after " + sql)
        return result

    def committed() -> None:
        reached("before the commit")
        commit()
        reached("after the commit")

    connection._commit = committed
    try:
        with connection.execute_wrapper(gate):
            yield
    finally:
        connection._commit = commit
