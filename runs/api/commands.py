"""One path for each command: parse, call it, answer. What it decides is runs.protocol's."""

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI

from runs.commands import do
from runs.protocol import asks
from runs.protocol.fields import JobId

from .answers import reply, responses
from .body import Json

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
    def submit(request: HttpRequest, ask: Annotated[asks.Submit, Json(...)]) -> HttpResponse:
        return reply(do(request.auth, ask.job_id, ask))  # type: ignore[attr-defined]

    def seal(request: HttpRequest, ask: Annotated[asks.Seal, Json(...)]) -> HttpResponse:
        return reply(do(request.auth, None, ask))  # type: ignore[attr-defined]

    _add(api, "/jobs", submit, asks.Submit, "Submit a job")
    _add(api, "/seal", seal, asks.Seal, "Close a generation of job ids")
    for ask_type, summary in ON_A_JOB.items():
        _add(api, f"/jobs/{{job_id:job_id}}/{ask_type.kind}", _on_a_job(ask_type), ask_type, summary)


def _on_a_job(ask_type: type[asks.Ask]):  # type: ignore[no-untyped-def]
    def view(request: HttpRequest, job_id: JobId, ask: Annotated[ask_type, Json(...)]) -> HttpResponse:  # type: ignore[valid-type]
        return reply(do(request.auth, job_id, ask))  # type: ignore[attr-defined]

    view.__name__ = ask_type.kind
    return view


def _add(api: NinjaAPI, path: str, view, ask_type: type[asks.Ask], summary: str) -> None:  # type: ignore[no-untyped-def]
    answers = responses(ask_type)
    api.post(path, response=answers, operation_id=ask_type.kind, summary=summary, tags=["commands"])(view)
