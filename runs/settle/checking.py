"""Has verifiers asked about unknown steps. What is due and what is recorded: `runs.commands.checks`."""

import logging
from collections import Counter
from functools import partial
from typing import Any

from django.conf import settings

from runs.asides import Asides, Late
from runs.commands import checks
from runs.errors import CancelboardError
from runs.verifiers import Finding

logger = logging.getLogger(__name__)


def start(asides: Asides) -> Counter[str]:
    """Begin the look-ups that are due. Returns how many."""
    seconds = settings.CANCELBOARD_CHECK_SECONDS + 1  # a verifier that minds the time says more than we can
    begun: Counter[str] = Counter()
    for booked in checks.take(asides.stuck):
        ask = partial(booked.verifier.ask, booked.question)
        asides.start(booked.verifier.receiver, ask, partial(_record, booked), seconds)
        begun["check begun"] += 1
    return begun


def _record(booked: checks.Booked, result: Any) -> str:
    if isinstance(result, Late):
        seconds = settings.CANCELBOARD_CHECK_SECONDS
        result = Finding.not_known("timed_out", f"No answer within {seconds} s.")
    if not isinstance(result, Finding):
        fault = result if isinstance(result, BaseException) else None
        told = fault or f"it gave {type(result).__name__}, no finding"
        logger.error("verifier %s failed: %s", booked.verifier.name, told, exc_info=fault)
        result = Finding.not_known("other", "The verifier failed; its fault is in the log.")
    try:
        return f"check {checks.record(booked, result)}"
    except CancelboardError as error:
        logger.warning("a look-up of %s is left to a later pass: %s", booked.question.job_id, error)
        checks.put_off(booked)
        return "check left"
