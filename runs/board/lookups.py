"""Pages that are only read: tombstones, one event by its id, the words, the keys."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import override

from runs.errors import NotVisible
from runs.permissions import Action
from runs.queries import receipts
from runs.queries import tombstones as read
from runs.words import HEADLINES

from . import looks
from .door import Reader, address, page, reader_of, show
from .shapes import Chip, Empty, Fact, Page


@page
def tombstones(request: HttpRequest) -> HttpResponse:
    reader, cursor = reader_of(request), request.GET.get("cursor")
    found, after = read.page_of(reader.actor, cursor)
    context = {
        "may_block": reader.rights.anywhere(Action.BLOCK, reader.now),
        "rows": [{**row, "url": reverse("job", args=[row["job"]])} for row in found],
        "page": Page(
            len(found),
            next=address(request.path, {"cursor": after}) if after else "",
            first=request.path if cursor else "",
        ),
        "empty": None if found else Empty("seal", _("No job was blocked before it started.")),
        "url": request.path,
    }
    return show(
        request, "runs/tombstones/page.html", "runs/tombstones/_results.html", {"tombstones": context}
    )


@page
def event(request: HttpRequest, event_id: str) -> HttpResponse:
    """Whether something was saved: looked up by the event id that its form was minted with."""
    receipt = _receipt(reader_of(request), event_id)
    facts, back = [Fact(_("Event id"), event_id, code=True)], ""
    if receipt is not None:
        facts += [
            Fact(_("Command"), receipt["kind"]),
            Fact(_("Answer"), receipt["status"]),
            Fact(_("By"), receipt["actor"]["name"]),
            Fact(_("At"), at=looks.moment(receipt["at"])),
            Fact(_("Digest"), receipt["digest"], code=True),
        ]
    if receipt is not None and receipt["seq"]:
        back = f"{reverse('job', args=[receipt['job_id']])}#ev-{receipt['seq']}"
    if receipt is not None and "operation" in receipt["detail"]:
        back = reverse("operation", args=[receipt["detail"]["operation"]])
    context = {"found": receipt is not None, "facts": facts, "back": back, "event_id": event_id}
    context["job"] = bool(receipt and receipt["seq"])
    return show(request, "runs/event/page.html", "runs/event/page.html", {"event": context})


def _receipt(reader: Reader, event_id: str) -> dict[str, Any] | None:
    """None alike where there is none and where the reader may not see it."""
    try:
        return receipts.one(reader.actor, event_id)
    except NotVisible:
        return None


@page
def words(request: HttpRequest) -> HttpResponse:
    rows = []
    for code, headline in HEADLINES.items():
        row: dict[str, Any] = {"code": code}
        for name, language in (("en", "en"), ("zh", "zh-hans")):
            with override(language):
                label = looks.unfilled(headline.label)
                row[name] = Chip(label, headline.token, headline.icon, headline.edge)
                row[f"help_{name}"] = looks.unfilled(headline.help)
                row[f"tell_{name}"] = looks.unfilled(headline.tell)
        rows.append(row)
    return show(request, "runs/words/page.html", "runs/words/page.html", {"words": rows})


@page
def keys(request: HttpRequest) -> HttpResponse:
    return show(request, "runs/help/keys.html", "runs/help/_keys.html", {})
