"""What can go wrong at a door, as a tree with stable codes. Pure: no Django, no HTTP library.

An error here leaves no trace: the transaction rolls back and no event id is used up. A refusal that must
be remembered is no error but a decision with a receipt (docs/protocol.md, section 4). Each door has one
translator from this tree to what its caller can read; `http` is what the API answers.
"""

from dataclasses import dataclass


class CancelboardError(Exception):
    """Something the caller can be told. `str(error)` is a sentence for a person."""

    http = 500
    code = "error"
    title = "Error"
    action = ""  #: what was refused, where only the decision knew
    counted = False  #: by `runs.permissions.counting`


class Unauthenticated(CancelboardError):
    """Sign in, or send `Authorization: Bearer cb_…`: no live credentials came with this request."""

    http, code, title = 401, "unauthenticated", "Who are you?"

    def __init__(self, detail: str, code: str = "unauthenticated") -> None:
        super().__init__(detail)
        self.code = code


class NotAllowed(CancelboardError):
    """The caller may see this but not do it; `code` is the deciding rule of docs/permissions.md."""

    http, title = 403, "Not allowed"

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class NotVisible(CancelboardError):
    """There is nothing here, or nothing that you may see. The two answer alike, to the letter."""

    http, code, title = 404, "not_found", "Not found"

    def __init__(self) -> None:
        super().__init__("There is nothing here that you may see.")


class Gone(CancelboardError):
    """The job's generation is sealed, so this id can never become a job."""

    http, code, title = 410, "sealed", "Sealed"


class TooLarge(CancelboardError):
    """The body is larger than the bound."""

    http, code, title = 413, "too_large", "Too large"


class WrongMediaType(CancelboardError):
    """The body must be `application/json`."""

    http, code, title = 415, "wrong_media_type", "Wrong media type"


@dataclass(frozen=True)
class FieldError:
    """One thing wrong with one field; `field` is a dotted path such as `spec.steps.0.label`."""

    field: str
    message: str


class Invalid(CancelboardError):
    """The body breaks a bound of docs/protocol.md, section 2 or 6. Nothing was stored, the event id is
    free."""

    http, code, title = 422, "invalid", "Invalid"

    def __init__(self, *errors: FieldError) -> None:
        super().__init__("; ".join(f"{e.field}: {e.message}" for e in errors))
        self.errors = errors


class TooMany(CancelboardError):
    """Too many requests, or tombstones, by this principal for now."""

    http, code, title = 429, "too_many", "Too many"

    def __init__(self, detail: str, retry_after: int) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class Busy(CancelboardError):
    """The database could not take the command now. Nothing was changed: send it again as it was."""

    http, code, title = 503, "busy", "Busy"

    def __init__(
        self, detail: str = "The database is busy. Nothing was changed; send the same again."
    ) -> None:
        super().__init__(detail)
        self.retry_after = 1
