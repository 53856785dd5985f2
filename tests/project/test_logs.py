"""What a caller sent can't write a log line of its own."""

import logging
import sys

from cancelboard.logs import OneLine, plain


def test_control_characters_become_escapes() -> None:
    assert (
        plain("a\nb\r\t\x1b[31m\x00\u2028\u202e é 取消") == "a\\nb\\r\\t\\x1b[31m\\x00\\u2028\\u202e é 取消"
    )


def test_a_message_and_its_traceback_stay_one_event() -> None:
    try:
        raise ValueError("first\n2026-01-01 INFO forged")
    except ValueError:
        record = logging.LogRecord("n", logging.ERROR, "f", 1, "lost %s", ("a\nb",), sys.exc_info())
    first, *rest = OneLine("{levelname} {message}", style="{").format(record).splitlines()
    assert first == "ERROR lost a\\nb"
    assert rest
    assert all(line.startswith("  | ") for line in rest)
