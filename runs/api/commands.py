"""One path for each command: parse, call it, answer. What it decides is runs.protocol's."""

from collections.abc import Callable
from typing import Annotated

from django.http import HttpResponse
from ninja import NinjaAPI

from runs.commands import do
from runs.protocol import asks
from runs.protocol.fields import JobId

from .answers import reply, responses
from .body import Json
from .who import Request

View = Callable[..., HttpResponse]

#: Every command on a job that there is (or was meant), and what it is for.
ON_A_JOB: dict[type[asks.Ask], str] = {
    asks.Cancel: "Ask for a job to be stopped; before it was submitted, block it",
    asks.Claim: "Take the job, to run its steps",
    asks.Heartbeat: "Keep the claim, and hear what the job is told",
    asks.Reserve: "Take the next step, to send it",
    asks.Dispatch: "Mark a step right before it is sent",
    asks.Report: "Tell what became of a step",
    asks.Release: "Give a step back that was not sent",
    asks.Checkpoint: "Confirm a stop, where nothing is out any more",
    asks.Revoke: "Take the claim away from a worker",
    asks.Pause: "Let nothing new start, for now",
    asks.Resume: "Let it go on",
    asks.Observe: "Record what you saw, changing nothing",
    asks.Reconcile: "Record an outcome with its evidence, or propose it",
    asks.Approve: "Agree with another person's proposal",
    asks.Decline: "Refuse a proposal, or take back one's own",
    asks.CloseDispute: "Close a dispute that was looked into",
}


def add_to(api: NinjaAPI) -> None:
    def submit(request: Request, ask: Annotated[asks.Submit, Json(...)]) -> HttpResponse:
        return reply(do(request.auth, ask.job_id, ask))

    def seal(request: Request, ask: Annotated[asks.Seal, Json(...)]) -> HttpResponse:
        return reply(do(request.auth, None, ask))

    _add(api, "/jobs", submit, asks.Submit, "Submit a job")
    _add(api, "/seal", seal, asks.Seal, "Close a generation of job ids")
    for ask_type, summary in ON_A_JOB.items():
        _add(api, f"/jobs/{{job_id:job_id}}/{ask_type.kind}", _on_a_job(ask_type), ask_type, summary)


def _on_a_job(ask_type: type[asks.Ask]) -> View:
    def view(request: Request, job_id: JobId, ask: Annotated[ask_type, Json(...)]) -> HttpResponse:  # type: ignore[valid-type]
        return reply(do(request.auth, job_id, ask))

    view.__name__ = ask_type.kind
    return view


def _add(api: NinjaAPI, path: str, view: View, ask_type: type[asks.Ask], summary: str) -> None:
    answers = responses(ask_type)
    api.post(path, response=answers, operation_id=ask_type.kind, summary=summary, tags=["commands"])(view)
