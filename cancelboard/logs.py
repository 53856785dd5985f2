"""One log line per event: control characters out of the text, the lines of a traceback marked.

Not what is logged, nor where to: `settings.LOGGING` says that.
"""

import json
import logging
import unicodedata
from datetime import UTC, datetime
from types import TracebackType


def plain(text: str) -> str:
    """`text` with every control, format and line-separating character written as an escape."""
    return "".join(
        char if char == " " or unicodedata.category(char)[0] not in "CZ" else ascii(char)[1:-1]
        for char in text
    )


class OneLine(logging.Formatter):
    """What a caller sent can't start a line of its own in the log."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's name)
        return plain(super().formatMessage(record))

    def formatException(  # noqa: N802 (logging's name)
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None],
    ) -> str:
        return "\n".join("  | " + plain(line) for line in super().formatException(ei).splitlines())


class OneObject(logging.Formatter):
    """One JSON object a line, for a collector: at, level, logger, request_id, message, and the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        told = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "request_id": getattr(record, "request_id", "-"),
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)
        return json.dumps(told)
