"""A list as a CSV file: its first line says what narrowed it, who took it and when; no cell is a formula."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpResponse

#: What makes a spreadsheet run a cell.
HARMFUL = ("=", "+", "-", "@", "\t", "\r", "\n")


def harmless(value: Any) -> str:
    """A cell that no spreadsheet takes for a formula."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(HARMFUL) else text


def as_csv(what: str, about: dict[str, Any], columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([harmless(f"cancelboard {what}; {'; '.join(f'{k}: {v}' for k, v in about.items())}")])
    writer.writerow(columns)
    writer.writerows([harmless(cell) for cell in line] for line in lines)
    return out.getvalue()


def attached(body: str, name: str, kind: str = "text/csv") -> HttpResponse:
    response = HttpResponse(body, content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
