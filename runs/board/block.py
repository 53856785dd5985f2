"""Block a job before it starts: read back what would be refused, then set the tombstone.

Judged on the queue and owner of the spec, here for the page and again by the command.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from runs import causes
from runs.permissions import WAYS, Action, Target, Verdict, count_refusal, error_of
from runs.queries import can
from runs.queries.choices import limits_of
from runs.words import sentences

from . import looks, may, refusals
from .block_form import TYPED, BlockForm
from .door import Reader, address, form_page, go, reader_of, show
from .forms import new_event_id
from .shapes import Cannot, Fact, Link, Notice

#: `requested`: the job had arrived meanwhile, and this is its cancel, judged as one.
DONE = ("tombstoned", "requested")


@form_page
def block(request: HttpRequest) -> HttpResponse:
    reader = reader_of(request)
    if not reader.rights.anywhere(Action.BLOCK, reader.now):
        return _refused(
            request, reader, reader.rights.judge(Action.BLOCK, Target("", "", ""), now=reader.now)
        )
    if request.method != "POST":
        return _show(request, _form(reader, initial={"event_id": new_event_id()}), 200)
    form = _form(reader, data=request.POST)
    if not form.is_valid():
        return _show(request, form, 422)
    assert form.spec is not None  # or it were not valid
    job_id, target = (
        form.cleaned_data["job_id"],
        Target(form.spec.queue, form.spec.owner, form.cleaned_data["job_id"]),
    )
    for action in (Action.VIEW, Action.BLOCK):
        verdict = reader.rights.judge(action, target, now=reader.now)
        if not verdict.allowed:
            count_refusal(reader.actor, Action.BLOCK, job_id, verdict.code)
            return _show(request, form, 403, cannot=_cannot(reader, verdict))
    if not form.confirmed(form.cleaned_data):
        return _show(request, form, 200)
    answer = form.sent(reader.actor, job_id, form.ask)
    if answer is None:
        return _show(request, form, form.status)
    if answer.status not in DONE:
        data = request.POST.copy()
        data["event_id"] = new_event_id()  # a refusal is remembered under its event id for ever
        again = _form(reader, data=data)
        again.is_valid()
        return _show(request, again, 409, notice=refusals.notice(answer))
    messages.success(request, _said(answer.status, answer.receipt or {}))
    return go(request, reverse("job", args=[job_id]))


def _form(reader: Reader, **given: Any) -> BlockForm:
    return BlockForm(
        causes=causes.offered(reader.actor.tenant_id, "cancel"), queues=list(limits_of(reader.actor)), **given
    )


def _said(status: str, receipt: dict[str, Any]) -> str:
    words = {"at": looks.clock(looks.moment(receipt["at"])), "who": receipt["actor"]["name"]}
    if status == "tombstoned":
        return _("Blocked at %(at)s by %(who)s: this job is refused whenever it arrives.") % words
    return _("The job had arrived already. Cancel requested at %(at)s by %(who)s.") % words


def _cannot(reader: Reader, verdict: Verdict) -> Cannot:
    names = can.who_may_anywhere(reader.actor, Action.BLOCK, reader.now)
    who = may.who_may(names, can.may_name(reader.rights, None, reader.now))
    reason = sentences(str(error_of(verdict)), _(WAYS[verdict.code]), who)
    why = Link(_("Why, and who may"), address(reverse("can"), {"action": "block"}))
    return Cannot(_("Block a job before it starts"), reason, "lock", why)


def _refused(request: HttpRequest, reader: Reader, verdict: Verdict) -> HttpResponse:
    if request.method == "POST":
        count_refusal(reader.actor, Action.BLOCK, "", verdict.code)
    form = _form(reader, initial={"event_id": new_event_id()})
    return _show(request, form, 403, cannot=_cannot(reader, verdict), closed=True)


def _show(
    request: HttpRequest,
    form: BlockForm,
    status: int,
    *,
    cannot: Cannot | None = None,
    notice: Notice | None = None,
    closed: bool = False,
) -> HttpResponse:
    """`closed`: whatever is entered, this person could not block it."""
    spec = form.spec if not cannot else None
    job_id = form["job_id"].value() or ""
    asked = {
        "title": _("Refuse %(job)s whenever it arrives?") % {"job": job_id}
        if spec
        else _("Block a job before it starts"),
        "url": reverse("block"),
        "back": reverse("tombstones"),
        "lookup": reverse("event", args=[form["event_id"].value()]) if "event_id" not in form.errors else "",
        "cannot": [cannot] if cannot else [],
        "closed": closed,
        "notice": notice,
        "facts": _facts(form) if spec else [],
        "steps": [step.label for step in spec.steps] if spec else [],
        "digest": spec.digest if spec else "",
        "typed": _("The last %(n)d characters of the id") % {"n": TYPED},
        "submit": _("Block it") if spec else _("Read it back"),
    }
    context = {"ask": asked, "form": form}
    return show(request, "runs/block/page.html", "runs/block/_form.html", context, status)


def _facts(form: BlockForm) -> list[Fact]:
    assert form.spec is not None
    spec = form.spec
    facts = [
        Fact(_("Job id"), form["job_id"].value(), code=True),
        Fact(_("Queue"), spec.queue),
        Fact(_("Customer"), spec.owner),
        Fact(_("Spec digest"), spec.digest, code=True),
    ]
    return [fact for fact in facts if fact.value]
