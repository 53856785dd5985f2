"""One log line per event: control characters out of the text, the lines of a traceback marked.

Not what is logged, nor where to: `settings.LOGGING` says that.
"""

import logging
import unicodedata
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
