"""The worker SDK: a client of cancelboard's HTTP API, and a worker that runs jobs through it.

Installs and imports without Django; needs httpx and websockets. How to use it: docs/worker.md. Read the files
in this order: causes, errors, wire (the contract as values), plans (retries), cancel (the token), step,
outcome, reports, run (the rules), pulse (the heartbeat), ears (the socket), transport, calls, client, drain,
worker (all by blocking), asyncs (the same plans on an event loop).
"""

from runs.worker.asyncs import AsyncClient, AsyncWorker
from runs.worker.cancel import CancelToken, Signal
from runs.worker.causes import Cause, cause_of
from runs.worker.client import Client
from runs.worker.errors import (
    AlreadyDispatched,
    Cancelled,
    Problem,
    Refused,
    SdkError,
    Stopped,
    Unexpected,
    UnknownTool,
    Unreachable,
)
from runs.worker.outcome import Ended, How
from runs.worker.plans import Retry
from runs.worker.run import Timing
from runs.worker.step import AsyncStepContext, AsyncTool, Evidence, Happened, StepContext, Tool
from runs.worker.wire import Answer
from runs.worker.worker import Worker

__all__ = [
    "AlreadyDispatched",
    "Answer",
    "AsyncClient",
    "AsyncStepContext",
    "AsyncTool",
    "AsyncWorker",
    "CancelToken",
    "Cancelled",
    "Cause",
    "Client",
    "Ended",
    "Evidence",
    "Happened",
    "How",
    "Problem",
    "Refused",
    "Retry",
    "SdkError",
    "Signal",
    "StepContext",
    "Stopped",
    "Timing",
    "Tool",
    "Unexpected",
    "UnknownTool",
    "Unreachable",
    "Worker",
    "cause_of",
]
