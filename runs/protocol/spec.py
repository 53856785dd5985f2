"""A job's immutable spec (PROTOCOL section 2): what it is, its canonical form and its digest."""

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from .canonical import digest
from .fields import Id, JobId, Line200, Params, Shape


class StepSpec(Shape):
    """One step as it was asked for. A bare string is short for its label."""

    label: Line200
    tool: Line200 = ""
    target: Line200 = ""
    params: Params = Field(default_factory=dict)


def _from_bare_string(step: Any) -> Any:
    return {"label": step} if isinstance(step, str) else step


class Spec(Shape):
    """A job: its queue and owner, how its steps are sent, its parent, and its steps in order."""

    queue: Id
    owner: Line200 = ""
    dispatch: Literal["unmarked", "marked"] = "unmarked"
    parent: JobId | None = None
    steps: Annotated[
        list[Annotated[StepSpec, BeforeValidator(_from_bare_string, json_schema_input_type=str | StepSpec)]],
        Field(min_length=1, max_length=256),
    ]

    @cached_property
    def whole(self) -> dict[str, Any]:
        """The spec with its defaults filled in: what is digested, and what the first receipt shows."""
        return self.model_dump()

    @cached_property
    def digest(self) -> str:
        """`spec_digest`: hex SHA-256 of the canonical text of `whole`. Equal specs, equal digests."""
        return digest(self.whole)
