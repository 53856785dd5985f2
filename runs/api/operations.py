"""Bulk operations: take one on, look at it, abort it. Its jobs are asked by the settle loop."""

from typing import Annotated

from django.http import HttpResponse
from ninja import NinjaAPI

from runs.commands import operations
from runs.protocol import asks
from runs.protocol.fields import Id
from runs.queries import operations as queries

from . import shapes
from .answers import reply, responses, sent
from .body import Asked, Json
from .reads import PROBLEMS, After, Limit
from .who import Request

TAG = "operations"


def start_operation(request: Request, ask: Annotated[asks.Operate, Json(...)]) -> HttpResponse:
    return reply(operations.start(request.auth, ask))


def abort_operation(
    request: Request, operation_id: Id, ask: Annotated[asks.AbortBody, Json(...)]
) -> HttpResponse:
    return reply(operations.abort(request.auth, asks.Abort(operation=operation_id, **ask.model_dump())))


def get_operation(request: Request, operation_id: Id, after: After, limit: Limit) -> HttpResponse:
    return sent(queries.one(request.auth, operation_id, after, limit))


def list_operations(
    request: Request, limit: Limit, cursor: Annotated[str | None, Asked(None)]
) -> HttpResponse:
    return sent(queries.listed(request.auth, cursor, limit))


def add_to(api: NinjaAPI) -> None:
    one = "/operations/{operation_id:operation_id}"
    read = dict.fromkeys(PROBLEMS, shapes.Problem)
    api.post("/operations", response=responses(asks.Operate), summary="The same for many jobs", tags=[TAG])(
        start_operation
    )
    api.post(
        f"{one}/abort", response=responses(asks.AbortBody), summary="Ask no further job of it", tags=[TAG]
    )(abort_operation)
    api.get("/operations", response={200: shapes.Operations, **read}, summary="Newest first", tags=[TAG])(
        list_operations
    )
    api.get(one, response={200: shapes.OperationAndList, **read}, summary="How far it is", tags=[TAG])(
        get_operation
    )
