"""Finds what any process committed, by reading the ledger from where it stopped: a nudge may come twice,
none is lost.

On PostgreSQL ids are not in commit order, so it reads by the writing transaction's id, and only below the
oldest transaction still open. SQLite's one writer commits in the order of ids. One thread in each server
process, with a connection of its own, for as long as somebody listens.
"""

import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from threading import Event, Thread

from django.db import Error, connection

from runs.live import Nudge

logger = logging.getLogger(__name__)

EVERY = 0.03  #: seconds between two looks
AFTER_A_FAILURE = 1.0
LIMIT = 500
LAST_ID = 2**62

HORIZON = "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
COLUMNS = "xid, id, tenant_id, job_id, job_ref, seq"
START = {
    "postgresql": f"SELECT {HORIZON} - 1, {LAST_ID}",
    "sqlite": "SELECT 0, COALESCE(MAX(id), 0) FROM runs_receipt",
}
NEXT = {
    "postgresql": f"SELECT {COLUMNS} FROM runs_receipt WHERE (xid, id) > (%s, %s) AND xid < {HORIZON} "
    f"ORDER BY xid, id LIMIT {LIMIT}",
    "sqlite": f"SELECT {COLUMNS} FROM runs_receipt WHERE 0 = %s AND id > %s ORDER BY id LIMIT {LIMIT}",
}


class Tailer:
    """Calls `tell` with a nudge for each receipt of a job committed after `start()`, from its own thread."""

    def __init__(self, tell: Callable[[Nudge], None]) -> None:
        self._tell = tell
        self._stop = Event()
        self._thread: Thread | None = None
        #: Set once the ledger was read: whatever is committed from then on will be told.
        self.began = Event()
        #: When the ledger was last read to its end: how fresh this process is; None before the first time.
        self.read_at: datetime | None = None

    def start(self) -> None:
        self._stop.clear()
        self._thread = Thread(target=self._run, name="tailer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end; it does within a look."""
        self._stop.set()

    def _run(self) -> None:
        position: tuple[int, int] | None = None
        stop = self._stop
        try:
            while not stop.is_set():
                try:
                    position = self._look(position)
                except Error as error:
                    logger.warning("the tailer could not read the ledger: %s", error)
                    connection.close()
                    stop.wait(AFTER_A_FAILURE)
                else:
                    self.began.set()
                    stop.wait(EVERY)
        finally:
            connection.close()

    def _look(self, position: tuple[int, int] | None) -> tuple[int, int]:
        """Tell of what is new since `position` (None: from now on); returns the position reached."""
        if position is None:
            position = next(self._rows(START, ()))
        began = datetime.now(UTC)
        while rows := list(self._rows(NEXT, position)):
            for _xid, _id, tenant_id, pk, job_id, seq in rows:
                if pk is not None:
                    self._tell(Nudge(tenant_id, pk, job_id, seq))
            position = rows[-1][:2]
        self.read_at = began
        return position

    def _rows(self, statements: dict[str, str], position: tuple[int, ...]) -> Iterator[tuple]:  # type: ignore[type-arg]
        with connection.cursor() as cursor:
            cursor.execute(statements[connection.vendor], position)
            return iter(cursor.fetchall())
