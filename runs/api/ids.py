"""Ids in paths. An ill-formed one matches no path, so it is answered as one that nobody may see: 404."""

from typing import Annotated

from django.urls import register_converter
from pydantic import StringConstraints, TypeAdapter

from runs.protocol.fields import Id, JobId

#: A caller's own event id, or one of the server's, which begin with `~`.
EventId = Annotated[str, StringConstraints(pattern=r"^~?[A-Za-z0-9][A-Za-z0-9._:\-]{0,127}$", max_length=128)]


class _Id:
    regex = "[^/]+"
    shape: TypeAdapter[str]

    def to_python(self, value: str) -> str:
        """Raises ValueError, pydantic's being one: Django then looks for another path."""
        return self.shape.validate_python(value)

    def to_url(self, value: str) -> str:
        return value


class JobIdInPath(_Id):
    shape = TypeAdapter(JobId)


class OperationIdInPath(_Id):
    shape = TypeAdapter(Id)


class EventIdInPath(_Id):
    shape = TypeAdapter(EventId)


register_converter(JobIdInPath, "job_id")
register_converter(OperationIdInPath, "operation_id")
register_converter(EventIdInPath, "event_id")
