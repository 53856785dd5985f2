"""Ask many jobs to be cancelled: what the list holds now, who is refused and why, then one cause and one
reason for all. Nothing is asked here; the settle loop asks each job by itself.
"""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from runs import causes
from runs.commands import Answer, operations
from runs.errors import NotVisible
from runs.permissions import WHOLE, Action, error_of
from runs.protocol import asks
from runs.queries.foreseen import MOST, STATES, Foreseen, foreseen

from . import answers, looks
from .door import Reader, form_page, go, reader_of, show
from .forms import OperateForm, new_event_id
from .operations import conditions_as_facts
from .shapes import Notice

CONDITIONS = ("q", "queue", "headline", "owner", "disputed", "control", "result", "unsettled")


@dataclass(frozen=True)
class Chosen:
    """Which jobs the address names: by their ids, or by what they have in common."""

    named: tuple[str, ...]
    conditions: dict[str, str]

    @classmethod
    def of(cls, request: HttpRequest) -> "Chosen":
        named = tuple(dict.fromkeys(request.GET.getlist("job")))[: asks.MOST_NAMED]
        given = {name: request.GET[name] for name in CONDITIONS if request.GET.get(name)}
        if any("\0" in text for text in (*named, *given.values())):
            raise NotVisible
        return cls(named, {} if named else given)

    def foresee(self, reader: Reader) -> Foreseen:
        """Raises NotVisible for a condition that none can be."""
        try:
            return foreseen(reader.actor, named=self.named, conditions=self.conditions)
        except ValueError:
            raise NotVisible from None

    def ask(self, given: dict[str, Any]) -> asks.Operate:
        said = {name: given[name] for name in ("event_id", "cause", "note", "title")}
        which: dict[str, Any] = {"job_ids": list(self.named)}
        if not self.named:
            which = {"filter": {name: _typed(name, text) for name, text in self.conditions.items()}}
        return asks.Operate.model_validate({"command": "cancel", **said, **which})


def _typed(name: str, text: str) -> Any:
    return text.lower() in ("true", "1") if name in ("disputed", "unsettled") else text


@form_page
def bulk(request: HttpRequest) -> HttpResponse:
    reader, chosen = _let_in(request), Chosen.of(request)
    if not chosen.named and not chosen.conditions:
        return show(request, "runs/bulk/nothing.html", "runs/bulk/nothing.html", {})
    given = causes.offered(reader.actor.tenant_id, "cancel")
    seen = chosen.foresee(reader)
    if request.method != "POST":
        form = OperateForm(causes=given, initial={"event_id": new_event_id(), "seen": seen.digest})
        return _show(request, chosen, seen, form)
    form = OperateForm(request.POST, causes=given)
    if not form.is_valid():
        return _show(request, chosen, seen, form, 422)
    if form.cleaned_data["seen"] != seen.digest and not form.cleaned_data["anyhow"]:
        return _changed(request, chosen, seen, given)
    told = form.tried(lambda: operations.start(reader.actor, chosen.ask(form.cleaned_data)))
    if told is None:
        return _show(request, chosen, seen, form, form.status)
    if told.status != "accepted":
        return _again(request, chosen, seen, given, _refused(told))
    messages.info(request, _said(told))
    return go(request, reverse("operation", args=[told.fields["operation"]["operation_id"]]))


def _let_in(request: HttpRequest) -> Reader:
    """Raises NotAllowed for who may cancel nothing at all."""
    reader = reader_of(request)
    if not reader.rights.anywhere(Action.CANCEL, reader.now):
        refusal = error_of(reader.rights.judge(Action.CANCEL, WHOLE, now=reader.now))
        refusal.action = Action.CANCEL
        raise refusal
    return reader


def _said(told: Answer) -> str:
    assert told.receipt is not None  # what was accepted leaves one
    count = told.fields["operation"]["jobs"]
    words = {"at": looks.clock(looks.moment(told.receipt["at"])), "n": f"{count:,}"}
    return (
        ngettext(
            "Taken on at %(at)s: %(n)s job will be asked by itself. Nothing is known of it yet.",
            "Taken on at %(at)s: %(n)s jobs will be asked, each by itself. Nothing is known of them yet.",
            count,
        )
        % words
    )


def _changed(
    request: HttpRequest, chosen: Chosen, seen: Foreseen, given: list[dict[str, Any]]
) -> HttpResponse:
    lead = _("The list changed while you looked.")
    text = _("Nothing was asked. Look at the new numbers; your text is kept, and can be sent again.")
    return _again(request, chosen, seen, given, Notice(lead, text, token="pending"))


def _refused(told: Answer) -> Notice:
    text = _("This form was sent before with other content, and that stands. Your text is kept.")
    return Notice(_("Nothing was changed by this."), text, token="pending")


def _again(
    request: HttpRequest, chosen: Chosen, seen: Foreseen, given: list[dict[str, Any]], notice: Notice
) -> HttpResponse:
    """With the text kept, under a new event id, for the list as it is now."""
    data = request.POST.copy()
    data["event_id"], data["seen"] = new_event_id(), seen.digest
    return _show(request, chosen, seen, OperateForm(data, causes=given), 409, notice)


def _show(
    request: HttpRequest,
    chosen: Chosen,
    seen: Foreseen,
    form: OperateForm,
    status: int = 200,
    notice: Notice | None = None,
) -> HttpResponse:
    event_id = form["event_id"].value()
    context = {
        "title": _title(seen),
        "url": request.get_full_path(),
        "back": _back(request),
        "lookup": reverse("event", args=[event_id])
        if "event_id" not in form.errors
        else reverse("operations"),
        "notice": notice,
        "facts": conditions_as_facts(chosen.conditions),
        "lines": _lines(seen),
        "refused": [_refusal(*each) for each in seen.refused],
        "more": seen.refusals - len(seen.refused),
        "possible": not seen.too_many and seen.jobs > 0,
        "changed": status == 409,
    }
    return show(
        request, "runs/bulk/page.html", "runs/bulk/_form.html", {"bulk": context, "form": form}, status
    )


def _back(request: HttpRequest) -> str:
    return f"{reverse('jobs')}?{request.GET.urlencode()}" if "job" not in request.GET else reverse("jobs")


def _title(seen: Foreseen) -> str:
    if seen.too_many:
        return _("More than %(n)s jobs match: narrow the filter") % {"n": f"{MOST:,}"}
    text = ngettext("Ask to cancel %(n)s job?", "Ask to cancel %(n)s jobs?", seen.jobs)
    return text % {"n": f"{seen.jobs:,}"}


def _lines(seen: Foreseen) -> list[dict[str, str]]:
    """How many would get which answer now."""
    if seen.too_many:
        return []
    lines = [_line(status, seen.answers[status]) for status in STATES if seen.answers.get(status)]
    if seen.refusals:
        text = ngettext("%(n)s is refused to you", "%(n)s are refused to you", seen.refusals)
        why = _("Each is judged again at its turn.")
        lines.append(
            {"icon": "lock", "token": "bad", "lead": text % {"n": f"{seen.refusals:,}"}, "text": why}
        )
    if seen.unseen:
        text = ngettext("%(n)s you may not see", "%(n)s you may not see", seen.unseen)
        lead = text % {"n": f"{seen.unseen:,}"}
        lines.append(
            {"icon": "no-entry", "token": "still", "lead": lead, "text": answers.sentence("not_found")}
        )
    return lines


def _line(status: str, count: int) -> dict[str, str]:
    chip = answers.chip(status)
    words = {
        "requested": ngettext("%(n)s would be requested.", "%(n)s would be requested.", count),
        "already_requested": ngettext("%(n)s was requested before.", "%(n)s were requested before.", count),
        "too_late": ngettext("%(n)s has ended.", "%(n)s have ended.", count),
    }
    text = {
        "requested": answers.sentence("requested"),
        "already_requested": _("It changes nothing there."),
        "too_late": _("It changes nothing there."),
    }
    lead = words[status] % {"n": f"{count:,}"}
    return {"icon": chip.icon, "token": chip.token, "lead": lead, "text": text[status]}


def _refusal(job_id: str, title: str, code: str) -> dict[str, str]:
    return {
        "job": job_id,
        "title": title or job_id,
        "url": reverse("job", args=[job_id]),
        "why": answers.sentence(code),
    }
