"""The audit trail: who did what, with filters, and as a file whose first line says what narrowed it."""

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from runs import ledger, readings
from runs.errors import NotVisible
from runs.permissions import WHOLE, Action, error_of
from runs.queries import trail as read

from .csv_file import as_csv, attached
from .door import Reader, address, page, reader_of, show
from .late_writes import day
from .shapes import Empty, Link, Page
from .verify import also, select

NAMES = ("person", "kind", "object", "since", "until")
KINDS: dict[str, str | Promise] = {
    "command": lazy("commands"),
    "right": lazy("rights"),
    "refusal": lazy("refusals"),
    "reading": lazy("readings"),
    "account": lazy("accounts and setup"),
}
COLUMNS = ("at", "who", "kind", "what", "object", "before", "after", "seq", "address", "reason")


@page
def trail(request: HttpRequest) -> HttpResponse:
    reader = _let_in(request)
    query = {name: request.GET[name] for name in NAMES if request.GET.get(name)}
    wanted, cursor = _wanted(query), request.GET.get("cursor")
    found, after = read.page_of(reader.actor, wanted, cursor)
    here = address(request.path, query)
    context = {
        "rows": [_row(line) for line in found],
        "filters": [
            select("kind", _("Kind"), wanted.kind, [(key, str(label)) for key, label in KINDS.items()]),
            *also("person", _("Person"), wanted.person),
            *also("object", _("Job or person"), wanted.object),
        ],
        "query": query,
        "csv": address(reverse("trail_file", args=["csv"]), query),
        "json": address(reverse("trail_file", args=["json"]), query),
        "page": Page(
            len(found),
            next=address(request.path, {**query, "cursor": after}) if after else "",
            first=here if cursor else "",
        ),
        "empty": None if found else _empty(request.path, query),
    }
    return show(request, "runs/audit/page.html", "runs/audit/_results.html", {"trail": context})


def _let_in(request: HttpRequest) -> Reader:
    """Raises NotAllowed for who holds neither `export` nor `manage_grants` anywhere."""
    reader = reader_of(request)
    if not read.may_read(reader.rights, reader.now):
        refusal = error_of(reader.rights.judge(Action.EXPORT, WHOLE, now=reader.now))
        refusal.action = Action.EXPORT
        raise refusal
    return reader


def _wanted(query: dict[str, str]) -> read.Wanted:
    """What can't be meant narrows to nothing: a page never shows more than its address says."""
    words = {name: query.get(name, "") for name in ("person", "kind", "object")}
    if any("\0" in word for word in words.values()) or words["kind"] not in ("", *read.KINDS):
        raise NotVisible
    return read.Wanted(**words, since=day(query.get("since")), until=day(query.get("until")))


def _row(line: read.Line) -> dict[str, Any]:
    is_job = line.kind not in ("right", "account") and line.object
    return {
        "at": line.at,
        "who": line.who,
        "kind": KINDS[line.kind],
        "what": line.what,
        "object": line.object,
        "url": reverse("job", args=[line.object]) + (f"#ev-{line.seq}" if line.seq else "")
        if is_job and line.kind == "command" and line.seq
        else "",
        "change": " → ".join(filter(None, (line.before, line.after))),
        "address": line.address,
        "reason": line.reason,
    }


def _empty(path: str, query: dict[str, str]) -> Empty:
    clear = Link(_("Clear filters"), path) if query else None
    return Empty("search", _("Nothing here that you may see."), "", clear)


@page
def trail_file(request: HttpRequest, form: str) -> HttpResponse:
    """The same lines as a file, at most 10,000. That it was taken is kept before it is given."""
    reader = _let_in(request)
    query = {name: request.GET[name] for name in NAMES if request.GET.get(name)}
    wanted = _wanted(query)
    assert reader.actor.user_id is not None  # a signed-in person
    narrowed = "; ".join(f"{name}={value}" for name, value in query.items()) or "everything"
    readings.of_export(reader.actor.tenant_id, reader.actor.user_id, narrowed)
    found, more = read.page_of(reader.actor, wanted, None, read.MOST)
    about = {
        "filter": narrowed,
        "tenant": reader.actor.tenant_name,
        "by": reader.actor.name,
        "at": ledger.as_text(reader.now),
        "lines": len(found),
        "whole": more is None,
    }
    lines = [_cells(line) for line in found]
    body, kind = (
        (_csv(about, lines), "text/csv") if form == "csv" else (_json(about, lines), "application/x-ndjson")
    )
    return attached(body, f"audit-trail.{form}", kind)


def _cells(line: read.Line) -> dict[str, Any]:
    return {**{name: getattr(line, name) for name in COLUMNS}, "at": ledger.as_text(line.at)}


def _csv(about: dict[str, Any], lines: list[dict[str, Any]]) -> str:
    return as_csv("audit trail", about, COLUMNS, ([line[name] for name in COLUMNS] for line in lines))


def _json(about: dict[str, Any], lines: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in (about, *lines))
