"""What verifiers were told about a job's steps, when they ask again, and "check again"."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from runs.commands import checks
from runs.models import Check
from runs.queries.job_page import JobPage

from . import may
from .door import Reader, form_page, go, reader_of
from .shapes import Cannot, Fact
from .timeline import KINDS


@dataclass(frozen=True)
class Looked:
    """One step's look-ups. `url`: where "check again" is sent to; "" where nobody can."""

    n: int
    facts: list[Fact]
    url: str = ""
    cannot: Cannot | None = None


@form_page
def check(request: HttpRequest, job_id: str, ordinal: int) -> HttpResponse:
    """Look the step up again, soon. Opened as a page it is the job's."""
    back = reverse("job", args=[job_id])
    if request.method == "POST":
        if checks.again(reader_of(request).actor, job_id, ordinal):
            told = _("Step %(n)d will be looked up again at once.")
            messages.success(request, told % {"n": ordinal + 1})
        else:
            told = _("Step %(n)d is not looked up: it is not unknown, or its system has no verifier.")
            messages.warning(request, told % {"n": ordinal + 1})
    return go(request, back)


def looked_up(reader: Reader, found: JobPage) -> list[Looked]:
    """The steps that were looked up, and the unknown one that will be."""
    ordinals = set(found.checks)
    now_unknown = unknown_with_verifier(found)
    if now_unknown is not None:
        ordinals.add(now_unknown)
    return [_looked(reader, found, ordinal, ordinal == now_unknown) for ordinal in sorted(ordinals)]


def unknown_with_verifier(found: JobPage) -> int | None:
    ordinal = found.shape["unsettled"]
    if ordinal is None or found.shape["steps"][ordinal]["state"] != "unknown":
        return None
    tool = found.tools.get(found.shape["steps"][ordinal]["tool"])
    return ordinal if tool is not None and tool.verifier else None


def _looked(reader: Reader, found: JobPage, ordinal: int, waits: bool) -> Looked:
    check = found.checks.get(ordinal)
    step = found.shape["steps"][ordinal]
    tool = found.tools.get(step["tool"])
    facts = [Fact(_("Asked"), str(tool or step["tool"]), note=_tries(check))]
    if check and check.answered_at:
        said = f"{KINDS.get(check.answer, check.answer)}: {check.said}"
        facts.append(Fact(_("Last answer"), said, at=check.answered_at))
    elif waits:
        facts.append(Fact(_("Last answer"), _("none yet")))
    if not waits:
        return Looked(ordinal + 1, facts)
    facts.append(_next(found, check))
    judged = may.judge_one(reader, found, may.CHECK)
    if not judged.possible:
        return Looked(ordinal + 1, facts, cannot=may.as_cannot(judged, found.row.job_id))
    return Looked(ordinal + 1, facts, url=reverse("check", args=[found.row.job_id, ordinal]))


def _tries(check: Check | None) -> str:
    return "" if check is None or not check.tries else _("look-ups: %(n)d") % {"n": check.tries}


def _next(found: JobPage, check: Check | None) -> Fact:
    if check is not None and check.running_until and check.running_until > found.now:
        return Fact(_("Next look"), _("under way now"))
    if check is None or check.due_at <= found.now:
        return Fact(_("Next look"), _("as soon as a settle loop comes by"))
    if check.asked_by:
        return Fact(
            _("Next look"), _("asked for by %(who)s,") % {"who": check.asked_by.name}, at=check.due_at
        )
    return Fact(_("Next look"), at=check.due_at)


def last(found: JobPage, ordinal: int) -> dict[str, Any] | None:
    """The last answer as a line under "Checked so far"; None where an observation says it already."""
    check = found.checks.get(ordinal)
    if check is None or check.answered_at is None:
        return None
    return {"at": check.answered_at, "text": f"{KINDS.get(check.answer, check.answer)} ({check.verifier})"}
