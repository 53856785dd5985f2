"""The job page: verdict, steps, timeline, what may be told, what may be done."""

import re
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from runs import readings
from runs.protocol.canonical import idempotency_key
from runs.queries.job_page import JobPage, job_page

from . import looks, may
from .checks import looked_up
from .door import Reader, address, is_fragment, page, reader_of, show
from .ladder import ladder
from .related import related
from .shapes import Action, Fact, Link
from .timeline import OUTCOMES, events
from .verdict import tell, verdict

#: A deed's key, and whether it comes first.
WAYS = {"outcome": ("e", True), "cancel": ("", False)}
SEQ = re.compile(r"[0-9]{1,18}", re.ASCII)


@page
def job(request: HttpRequest, job_id: str) -> HttpResponse:
    """The page, or an older part of its timeline (`before`); for a live patch the parts that a receipt can
    change, and the receipts `after` the last one seen."""
    reader, after = reader_of(request), _seq(request, "after") if is_fragment(request) else 0
    found = job_page(reader.actor, job_id, reader.now, after=after, before=_seq(request, "before"))
    readings.of_evidence(reader.actor.tenant_id, reader.actor.user_id, job_id, found.receipts)
    context = {"job": present(reader, found, after)}
    return show(request, "runs/job/page.html", "runs/job/_patch.html", context)


def _seq(request: HttpRequest, name: str) -> int:
    given = request.GET.get(name, "")
    return int(given) if SEQ.fullmatch(given) else 0


def present(reader: Reader, found: JobPage, after: int = 0) -> dict[str, Any]:
    """Everything in words."""
    shape, job_id = found.shape, found.row.job_id
    judged = may.judge(reader, found)
    url = reverse("job", args=[job_id])
    waits = shape["control"] == "requested" and shape["unsettled"] is not None
    return {
        "id": job_id,
        "seq": shape["seq"],
        "title": found.row.title or job_id,
        "url": url,
        "customer": shape["owner"],
        "queue": shape["queue"],
        "created_at": found.row.created_at,
        "crumb": Link(_("Verify queue"), reverse("verify")) if waits else Link(_("Jobs"), reverse("jobs")),
        "verdict": verdict(found),
        "steps": [_step(found, each) for each in shape["steps"]],
        "steps_line": looks.counts(shape),
        "timeline": {
            "events": events(found),
            "earlier": address(url, {"before": str(found.receipts[0]["seq"])}) if found.earlier else "",
        },
        "tell": tell(shape),
        "actions": [_action(found, each.deed) for each in judged if each.possible],
        "cannots": [may.as_cannot(each, job_id) for each in judged if not each.possible],
        "settled_by": _settled_by(found) if after else "",
        "facts": facts(found),
        "ladder": ladder(found),
        "related": related(found),
        "looked_up": looked_up(reader, found),
    }


def _step(found: JobPage, each: dict[str, Any]) -> dict[str, Any]:
    shape, ordinal = found.shape, each["ordinal"]
    waiting = found.waits is not None and found.waits.ordinal == ordinal
    settled, tool = each["settled_by"], found.tools.get(each["tool"])
    pending = each["state"] == "pending"
    return {
        "n": ordinal + 1,
        "label": each["label"],
        "system": str(tool) if tool else each["tool"],
        "target": each["target"],
        "params": sorted((name, looks.as_text(value)) for name, value in each["params"].items()),
        "sent_at": None if pending else found.sent_at.get(ordinal),
        "sent_text": {"pending": _("not sent"), "inflight": _("not yet")}.get(each["state"], _("no mark")),
        "chip": looks.step_chip(shape, each, waiting, ordinal in found.approved),
        "key": idempotency_key(shape["tenant"], shape["job_id"], ordinal),
        "value": each["value"],
        "receipt": settled
        and {"label": f"#{settled['seq']}", "url": f"#ev-{settled['seq']}", "by": settled["actor"]["name"]},
        "receipt_text": _("not needed") if pending and looks.held(shape) else _("none"),
        "hot": ordinal == shape["unsettled"],
        "note": _("Waiting for a second person.") if waiting else "",
        "testimony": [_testimony(word) for word in each["testimony"]],
    }


def _testimony(word: dict[str, Any]) -> dict[str, Any]:
    said = [
        str(OUTCOMES[word["outcome"]]),
        _("“%(value)s”") % {"value": word["value"]} if word["value"] else "",
    ]
    words = {"worker": word["worker"], "said": _(", ").join(filter(None, said))}
    text = _("Worker %(worker)s, who had lost the claim, says: %(said)s") % words
    return {"text": text, "at": looks.moment(word["at"]), "url": f"#ev-{word['seq']}"}


def _action(found: JobPage, deed: may.Deed) -> Action:
    job_id, ordinal = found.row.job_id, found.job.position
    key, first = WAYS.get(deed.name, ("", False))
    if deed.name == "outcome":
        label = _("Record outcome of step %(n)d…") % {"n": ordinal + 1}
        return Action(label, reverse("outcome", args=[job_id, ordinal]), primary=first, key=key)
    if deed.name == "cancel":
        return Action(_("Request cancel…"), reverse("cancel", args=[job_id]), primary=first, key=key)
    return Action(f"{deed.label}…", reverse("deed", args=[job_id, deed.name]))


def _settled_by(found: JobPage) -> str:
    """Who recorded an outcome while the reader looked: said in the place of the action that went with it."""
    last = next((each for each in reversed(found.receipts) if each["status"] == "settled"), None)
    if last is None or found.shape["unsettled"] is not None:
        return ""
    words = {"who": last["actor"]["name"], "at": looks.clock(looks.moment(last["at"]))}
    return _("Recorded by %(who)s %(at)s") % words


def facts(found: JobPage) -> list[Fact]:
    shape, row = found.shape, found.row
    said = []
    if shape["owner"]:
        jobs = address(reverse("jobs"), {"owner": shape["owner"]})
        said.append(Fact(_("Customer"), shape["owner"], url=jobs))
    if cancel := shape["cancel"]:
        words = {"who": cancel["by"], "whom": cancel["asked_by"]}
        by = _("%(who)s, for %(whom)s,") if cancel["asked_by"] else _("%(who)s,")
        said.append(Fact(_("Cancel asked by"), by % words, at=row.cancel_at))
        said.append(Fact(_("Why"), cancel["cause"]["short"], note=cancel["note"]))
    if row.unsettled_since:
        said.append(_target(found))
    if claim := shape["claim"]:
        alive = _("live") if claim["live"] else _("its lease has ended")
        words = {"worker": claim["worker"], "alive": alive}
        heard = _("%(worker)s: %(alive)s, last heard") if row.heartbeat_at else _("%(worker)s: %(alive)s")
        said.append(Fact(_("Worker"), heard % words, at=row.heartbeat_at))
    rules = {
        "2": _("two people record an outcome"),
        "2 for did-not-happen": _("two people for “did not happen”"),
    }
    said.append(Fact(_("Rule"), rules.get(found.queue.reconcile_needs, _("one person records an outcome"))))
    if any(step["disputed"] for step in shape["steps"]):
        said.append(Fact(_("Reports"), _("differ: see all that differ"), url=reverse("disputed")))
    if late := sum(len(step["testimony"]) for step in shape["steps"]):
        said.append(Fact(_("Late writes"), _late(late), url=address(reverse("late"), {"job": row.job_id})))
    said.append(Fact(_("Spec digest"), shape["spec_digest"], code=True))
    return said


def _late(count: int) -> str:
    return ngettext("%(n)d kept as testimony", "%(n)d kept as testimony", count) % {"n": count}


def _target(found: JobPage) -> Fact:
    """How long the step that is out may stay so before somebody should have looked."""
    assert found.row.unsettled_since is not None
    age = looks.age(found.row.unsettled_since, found.now, found.queue.limit_seconds)
    left = found.queue.limit_seconds - (found.now - found.row.unsettled_since).total_seconds()
    text = _("%(span)s left") if left > 0 else _("%(span)s over")
    tone = {"over": "bad", "near": "pending"}.get(age.tone, "")
    return Fact(_("Target"), text % {"span": looks.span(abs(left))}, tone=tone)
