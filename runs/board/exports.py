"""The Verify queue and the list of jobs as files: what their filters show, to who may see it. That one was
taken is kept before it is given."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from pydantic import ValidationError

from runs import ledger, readings
from runs.errors import NotVisible
from runs.models import Job
from runs.queries import exports as read
from runs.queries.jobs import JobFilter
from runs.queries.shape import headline_of
from runs.queries.verify_queue import Wanted
from runs.words import HEADLINES

from .csv_file import as_csv, attached
from .door import Reader, page, reader_of
from .jobs import NAMES as OF_JOBS
from .verify import NAMES as OF_QUEUE

COLUMNS = (
    *("job_id", "title", "customer", "queue", "headline", "status", "control", "result", "disputed"),
    *("unsettled_since", "cancel_at", "cancel_by", "cancel_cause", "created_at", "updated_at"),
)


@page
def jobs_file(request: HttpRequest) -> HttpResponse:
    reader = reader_of(request)
    query = {name: request.GET[name] for name in OF_JOBS if name != "cursor" and request.GET.get(name)}
    try:
        wanted = JobFilter.model_validate(query)
    except ValidationError:
        raise NotVisible from None
    found, whole = read.jobs(reader.actor, wanted, reader.now)
    return _file(reader, "jobs", query, found, whole)


@page
def queue_file(request: HttpRequest) -> HttpResponse:
    reader = reader_of(request)
    query = {name: request.GET[name] for name in OF_QUEUE if request.GET.get(name)}
    if any("\0" in text for text in query.values()):
        raise NotVisible
    found, whole = read.waiting(reader.actor, Wanted(**query), reader.now)
    return _file(reader, "verify", query, found, whole)


def _file(reader: Reader, name: str, query: dict[str, str], found: list[Job], whole: bool) -> HttpResponse:
    narrowed = "; ".join(f"{key}={value}" for key, value in query.items()) or "everything"
    assert reader.actor.user_id is not None  # a signed-in person
    readings.of_export(reader.actor.tenant_id, reader.actor.user_id, f"{name}: {narrowed}")
    about = {
        "filter": narrowed,
        "tenant": reader.actor.tenant_name,
        "by": reader.actor.name,
        "at": ledger.as_text(reader.now),
        "lines": len(found),
        "whole": whole,
    }
    return attached(as_csv(name, about, COLUMNS, (_cells(job) for job in found)), f"{name}.csv")


def _cells(job: Job) -> list[Any]:
    """By its row alone: what lies before its position has happened."""
    words = HEADLINES[headline_of(job)]
    times = [job.unsettled_since, job.cancel_at, job.created_at, job.updated_at]
    unsettled, cancelled, created, updated = (ledger.as_text(at) if at else "" for at in times)
    return [
        *(job.job_id, job.title, job.owner, job.queue, words.code),
        words.filled(words.label, job.position, job.n_steps),
        *(job.control, job.result, "yes" if job.disputed or job.no_mark else "no"),
        *(unsettled, cancelled, job.cancel_by, job.cancel_cause, created, updated),
    ]
