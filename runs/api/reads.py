"""One path for each read: parse, ask one query, answer."""

from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Literal

from django.http import HttpResponse
from ninja import NinjaAPI
from pydantic import Field

from runs import readings
from runs.errors import FieldError, Invalid
from runs.permissions import Action, counting
from runs.protocol.fields import MAX_INTEGER, JobId, Line128
from runs.queries import can, certificate, jobs, preview, receipts, setup

from . import shapes
from .answers import sent
from .body import Asked
from .ids import EventId
from .who import Request

View = Callable[..., HttpResponse]

PROBLEMS = (401, 403, 404, 410, 422, 429, 503)
After = Annotated[int, Field(ge=0, le=MAX_INTEGER), Asked(0)]
Limit = Annotated[int, Field(ge=1, le=200), Asked(50)]


def get_job(request: Request, job_id: JobId) -> HttpResponse:
    return sent(jobs.one(request.auth, job_id))


def list_jobs(request: Request, wanted: Annotated[jobs.JobFilter, Asked(...)]) -> HttpResponse:
    return sent(jobs.listed(request.auth, wanted))


def list_receipts(request: Request, job_id: JobId, after: After, limit: Limit) -> HttpResponse:
    found = receipts.of_job(request.auth, job_id, after, limit)
    readings.of_evidence(request.auth.tenant_id, request.auth.user_id, job_id, found["receipts"])
    return sent(found)


def get_certificate(request: Request, job_id: JobId) -> HttpResponse:
    made = certificate.certificate(request.auth, job_id)
    readings.of_certificate(request.auth.tenant_id, request.auth.user_id, job_id)
    return sent(made)


def follow_job(request: Request, job_id: JobId, after: After) -> HttpResponse:
    """Judges the request and says where its stream begins; the stream itself is runs.consumers'. Without that
    (a server that knows no ASGI) it ends at once, and its reader comes back."""
    last = request.headers.get("Last-Event-ID", "")
    if last and not (last.isascii() and last.isdigit() and len(last) < 16):
        raise Invalid(FieldError("Last-Event-ID", "must be the id of an event of this stream"))
    receipts.of_job(request.auth, job_id, after, 1)
    response = HttpResponse(content_type="text/event-stream")
    response["X-After"] = last or str(after)
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


def get_receipt(request: Request, event_id: EventId) -> HttpResponse:
    found = receipts.one(request.auth, event_id)
    readings.of_evidence(request.auth.tenant_id, request.auth.user_id, found["job_id"] or "", [found])
    return sent(found)


def preview_command(
    request: Request, job_id: JobId, command: Annotated[Literal["cancel"], Asked(...)]
) -> HttpResponse:
    return sent(preview.cancel(request.auth, job_id))


def list_causes(request: Request) -> HttpResponse:
    return sent(setup.causes(request.auth))


def list_queues(request: Request) -> HttpResponse:
    return sent(setup.queues(request.auth))


def whoami(request: Request) -> HttpResponse:
    return sent(setup.whoami(request.auth))


def explain_can(
    request: Request,
    action: Annotated[Action, Asked(...)],
    job_id: Annotated[JobId | None, Asked(None)],
    principal: Annotated[Line128 | None, Asked(None)],
) -> HttpResponse:
    return sent(can.explain(request.auth, action, job_id, principal))


READS: tuple[tuple[str, Any, Any, str], ...] = (
    ("/jobs", list_jobs, shapes.Jobs, "Jobs, newest first"),
    ("/jobs/{job_id:job_id}", get_job, shapes.Job, "A job as it is now"),
    ("/jobs/{job_id:job_id}/receipts", list_receipts, shapes.Receipts, "The receipts of a job, in order"),
    (
        "/jobs/{job_id:job_id}/events",
        follow_job,
        shapes.Events,
        "Its receipts as they come (server-sent)",
    ),
    ("/jobs/{job_id:job_id}/preview", preview_command, shapes.Preview, "What a cancel would do now"),
    (
        "/jobs/{job_id:job_id}/certificate",
        get_certificate,
        shapes.Certificate,
        "A job with all that explains it",
    ),
    ("/receipts/{event_id:event_id}", get_receipt, shapes.Receipt, "One receipt, by its event id"),
    ("/causes", list_causes, shapes.Causes, "Why something may be stopped"),
    ("/queues", list_queues, shapes.Queues, "Where jobs are filed"),
    ("/whoami", whoami, shapes.Whoami, "Who these credentials stand for"),
    ("/can", explain_can, shapes.Can, "May they, why not, and who may"),
)


def add_to(api: NinjaAPI) -> None:
    for path, view, shape, summary in READS:
        name = view.__name__
        answers = {200: shape, **dict.fromkeys(PROBLEMS, shapes.Problem)}
        api.get(path, response=answers, operation_id=name, summary=summary, tags=["reads"])(_counted(view))


def _counted(view: View) -> View:
    """A read of one job that is refused is counted, like a command."""

    @wraps(view)
    def counted(request: Request, **asked: Any) -> HttpResponse:
        with counting(request.auth, Action.VIEW, asked.get("job_id") or ""):
            return view(request, **asked)

    return counted
