"""Who may what: the decision step by step, for oneself; for anybody, and "what if", to who manages grants.

A page behind every refused action. It shows what a decision is made of, never a job.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from runs.errors import NotVisible
from runs.permissions import WHOLE, Action, Line, Scope
from runs.queries import can as read

from . import may
from .door import page, reader_of, show
from .shapes import Chip

#: "You may not …"
ACTIONS: dict[str, str | Promise] = {
    "view": lazy("see a job"),
    "submit": lazy("submit a job"),
    "execute": lazy("run a job's steps"),
    "cancel": lazy("request a cancel"),
    "block": lazy("block a job before it starts"),
    "pause": lazy("pause or resume"),
    "revoke": lazy("take a claim away"),
    "reconcile": lazy("record an outcome"),
    "approve": lazy("approve another person's entry"),
    "seal": lazy("seal a generation"),
    "export": lazy("export evidence"),
    "manage_grants": lazy("give and take rights"),
}
CHECKS: dict[str, str | Promise] = {
    "view": lazy("They may see the job at all"),
    "credentials": lazy("The account is on; a token is live and reaches this far"),
    "principal_kind": lazy("Their kind of account may do such a thing"),
    "deny": lazy("No rule forbids it"),
    "allow": lazy("A grant that is live reaches it"),
    "separation_of_duties": lazy("They are not a party to it themselves"),
    "decision": lazy("So"),
}
#: What if they held, too, a grant of the action on …
IFS: dict[str, str | Promise] = {
    "allow tenant": lazy("a grant on the whole tenant"),
    "allow job": lazy("a grant on this job"),
    "deny tenant": lazy("a ban on the whole tenant"),
}


@page
def can(request: HttpRequest) -> HttpResponse:
    reader, given = reader_of(request), request.GET
    action = given.get("action", "")
    job_id, person, what_if = (given.get(name, "").strip() for name in ("job_id", "principal", "what_if"))
    if "\0" in job_id + person:
        raise NotVisible  # nothing is called like that, and PostgreSQL does not take it
    context: dict[str, Any] = {
        "actions": _options(ACTIONS, action),
        "ifs": _options(IFS, what_if),
        "job_id": job_id,
        "principal": person,
        "manages": reader.rights.judge(Action.MANAGE_GRANTS, WHOLE, now=reader.now).allowed,
        "url": reverse("can"),
    }
    if action in ACTIONS:
        asked, supposed = Action(action), _supposed(what_if, Action(action), job_id)
        found = read.explain(reader.actor, asked, job_id or None, person or None, supposed)
        context["found"] = _present(found, asked, person or reader.actor.name, bool(supposed), job_id)
    return show(request, "runs/can/page.html", "runs/can/_results.html", {"can": context})


def _options(words: dict[str, str | Promise], chosen: str) -> list[dict[str, Any]]:
    return [{"value": key, "label": label, "selected": key == chosen} for key, label in words.items()]


def _supposed(what_if: str, action: Action, job_id: str) -> Line | None:
    """The grant to suppose; none on a job where none is named."""
    if what_if not in IFS:
        return None
    effect, scope = what_if.split()
    if scope == "job":
        return Line(action, Scope.JOB, job=job_id) if job_id else None
    return Line(action, allows=effect == "allow")


def _present(found: dict[str, Any], action: Action, name: str, supposed: bool, job_id: str) -> dict[str, Any]:
    words = {"name": name, "what": ACTIONS[action]}
    may_it = _("%(name)s may %(what)s here.") if found["allowed"] else _("%(name)s may not %(what)s here.")
    if supposed:
        may_it = (
            _("Then %(name)s might %(what)s here.")
            if found["allowed"]
            else _("Even then %(name)s may not %(what)s.")
        )
    names = found["who_may"]
    return {
        "title": may_it % words,
        "token": "ok" if found["allowed"] else "bad",
        "icon": "circle-check" if found["allowed"] else "lock",
        "reason": found["reason"],
        "change": found["change"],
        "code": found["code"],
        "grant": _("The grant that decided: %(says)s, held by %(holder)s.") % found["grant"]
        if found["grant"]
        else "",
        "steps": [_step(step) for step in found["steps"]],
        "who": may.who_may(names if names is not None else [""] * found["others"], names is not None),
        "names": names or [],
        "job": reverse("job", args=[job_id]) if job_id else "",
    }


def _step(step: dict[str, Any]) -> dict[str, Any]:
    good = step["result"] in ("pass", "allowed")
    chip = Chip(_("yes"), "ok", "circle-check") if good else Chip(step["result"], "bad", "circle-x")
    return {"n": step["n"], "check": CHECKS[step["check"]], "chip": chip}
