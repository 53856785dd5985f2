"""The job page: verdict, steps, timeline, what may be told, what may be done."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from runs.permissions import Actor
from runs.protocol.canonical import idempotency_key
from runs.queries.job_page import JobPage, job_page

from . import looks, may
from .door import actor_of, is_fragment, page, show
from .shapes import Action, Cannot, Fact, Link
from .timeline import events

#: A deed's address, its key, and whether it comes first.
WAYS = {"outcome": ("e", True), "cancel": ("", False)}


@page
def job(request: HttpRequest, job_id: str) -> HttpResponse:
    """The page; for a live patch the parts that a receipt can change, and the receipts `after` the last
    one seen."""
    after = request.GET.get("after", "")
    found = job_page(actor_of(request), job_id, int(after) if is_fragment(request) and after.isdigit() else 0)
    return show(
        request, "runs/job/page.html", "runs/job/_patch.html", {"job": present(found, actor_of(request))}
    )


def present(found: JobPage, actor: Actor) -> dict[str, Any]:
    """The context of docs: everything in words."""
    shape = found.shape
    judged = may.judge(actor, found.row, found.job, found.rights, found.now, found.waits)
    url = reverse("job", args=[shape["job_id"]])
    return {
        "id": shape["job_id"],
        "seq": shape["seq"],
        "title": found.row.title or shape["job_id"],
        "url": url,
        "customer": shape["owner"],
        "queue": shape["queue"],
        "created_at": found.row.created_at,
        "crumb": Link(_("Jobs"), reverse("jobs"))
        if shape["unsettled"] is None
        else Link(_("Verify queue"), reverse("verify")),
        "verdict": verdict(found),
        "steps": [step(found, each) for each in shape["steps"]],
        "steps_line": looks.counts(shape),
        "timeline": {
            "filters": [],
            "events": events(found.row.tenant_id, found.receipts, found.replays),
            "zone": timezone.get_current_timezone_name(),
        },
        "tell": tell(shape),
        "actions": actions(found, judged),
        "cannots": [
            Cannot(str(each.deed.label), each.reason, "lock" if each.forbidden else "no-entry")
            for each in judged
            if not each.possible
        ],
        "facts": facts(found),
    }


def verdict(found: JobPage) -> dict[str, Any]:
    shape, words = found.shape, looks.headline(found.shape)
    done, total = looks.happened(shape), len(shape["steps"])
    pending = sum(each["state"] == "pending" for each in shape["steps"])
    return {
        "headline": {
            "code": words.code,
            "token": words.token,
            "edge": words.edge,
            "icon": words.icon,
            "label": looks.label(shape),
            "short": looks.short_chip(shape, found.waits is not None).label,
            "help": words.filled(words.help, done, total),
        },
        "when": _when(found),
        "step": None if shape["unsettled"] is None else shape["unsettled"] + 1,
        "held": pending if shape["control"] != "run" or shape["result"] != "open" else 0,
        "done": done,
        "total": total,
        "control": control_track(shape),
        "result": result_track(shape),
        "chips": [looks.chip(shape)] if shape["disputed"] else [],
        "notes": notes(found),
    }


def _when(found: JobPage) -> str:
    """How the step that is out lies to the cancel, in words, where order matters."""
    ordinal, cancel_at = found.shape["unsettled"], found.row.cancel_at
    if (
        ordinal is None
        or cancel_at is None
        or ordinal not in found.sent_at
        or found.shape["control"] == "run"
    ):
        return ""
    gap = (cancel_at - found.sent_at[ordinal]).total_seconds()
    if gap < 0:
        return ""
    span = f"{gap:.1f} s" if gap < 60 else looks.span(gap)
    return _("Step %(n)d was sent %(span)s before the cancel arrived.") % {"n": ordinal + 1, "span": span}


def control_track(shape: dict[str, Any]) -> list[dict[str, Any]]:
    names = [("run", _("Run")), ("requested", _("Requested")), ("acknowledged", _("Acknowledged"))]
    at = [name for name, _label in names].index(shape["control"])
    coming = "maybe" if shape["control"] == "requested" else ""
    return [
        {"label": label, "mark": "done" if n < at else "on" if n == at else coming, "current": n == at}
        for n, (_name, label) in enumerate(names)
    ]


def result_track(shape: dict[str, Any]) -> list[dict[str, Any]]:
    final = {"succeeded": _("Succeeded"), "failed": _("Failed")}.get(shape["result"])
    return [
        {"label": _("Open"), "mark": "done" if final else "on", "current": not final},
        {
            "label": final or _("Succeeded or failed"),
            "mark": "on" if final else "maybe",
            "current": bool(final),
        },
    ]


def notes(found: JobPage) -> list[str]:
    said = []
    if found.shape["disputed"]:
        said.append(
            _(
                "Two sources contradict each other. The outcome stands; tell the customer nothing "
                "until somebody closes the dispute."
            )
        )
    if found.shape["children_unfinished"]:
        said.append(_("Related work started from it is still running."))
    if found.waits:
        said.append(_("%(who)s entered an outcome; it waits for a second person.") % {"who": found.waits.by})
    if found.shape["blocked_submits"]:
        said.append(
            _("The job arrived %(n)d times since and was refused.") % {"n": found.shape["blocked_submits"]}
        )
    return said


def step(found: JobPage, each: dict[str, Any]) -> dict[str, Any]:
    shape, ordinal = found.shape, each["ordinal"]
    waiting = found.waits is not None and found.waits.ordinal == ordinal
    settled = each["settled_by"]
    tool = found.tools.get(each["tool"])
    held = shape["control"] != "run" or shape["result"] != "open"
    return {
        "n": ordinal + 1,
        "label": each["label"],
        "system": str(tool) if tool else each["tool"],
        "target": each["target"],
        "params": sorted((name, value) for name, value in each["params"].items()),
        "sent_at": found.sent_at.get(ordinal) if each["state"] != "pending" else None,
        "sent_text": _("not sent"),
        "chip": looks.step_chip(shape, each, waiting, ordinal in found.steps_approved),
        "key": idempotency_key(shape["tenant"], shape["job_id"], ordinal),
        "value": each["value"],
        "receipt": settled
        and {"label": f"#{settled['seq']}", "url": f"#ev-{settled['seq']}", "by": settled["actor"]["name"]},
        "receipt_text": _("not needed") if each["state"] == "pending" and held else _("none"),
        "hot": ordinal == shape["unsettled"],
        "note": _("Waiting for a second person.") if waiting else "",
        "testimony": [
            {
                "text": _("Worker %(worker)s, who had lost the claim, says: %(outcome)s %(value)s")
                % {"worker": word["worker"], "outcome": word["outcome"], "value": word["value"]},
                "at": datetime.fromisoformat(word["at"]),
                "url": f"#ev-{word['seq']}",
            }
            for word in each["testimony"]
        ],
    }


def tell(shape: dict[str, Any]) -> dict[str, Any]:
    """What staff may tell the customer: from the same table as the label, in both languages."""
    if shape["disputed"]:
        return {
            "nothing": _("Nothing yet: reports about a step differ, and nobody has closed the dispute."),
            "never": _never(shape),
        }
    words, done, total = looks.headline(shape), looks.happened(shape), len(shape["steps"])
    said = {}
    for name, language in (("en", "en"), ("zh", "zh-hans")):
        with override(language):
            said[name] = words.filled(words.tell, done, total)
    if not said["en"]:
        return {"nothing": _("Nothing needs saying: nobody asked for a cancel."), "never": []}
    return {**said, "never": _never(shape)}


def _never(shape: dict[str, Any]) -> list[str]:
    if looks.headline(shape).edge != "dashed" and not shape["disputed"]:
        return []
    return [_("stopped"), _("cancelled"), _("it did not go out")]


def actions(found: JobPage, judged: list[may.Judged]) -> list[Action]:
    job_id = found.shape["job_id"]
    ways = []
    for each in judged:
        if not each.possible:
            continue
        key, first = WAYS.get(each.deed.name, ("", False))
        if each.deed.name == "outcome":
            url = reverse("outcome", args=[job_id, found.job.position])
            label = _("Record outcome of step %(n)d…") % {"n": found.job.position + 1}
        elif each.deed.name == "cancel":
            url, label = reverse("cancel", args=[job_id]), _("Request cancel…")
        else:
            url, label = reverse("deed", args=[job_id, each.deed.name]), f"{each.deed.label}…"
        ways.append(Action(label, url, primary=first, key=key))
    return ways


def facts(found: JobPage) -> list[Fact]:
    shape, row = found.shape, found.row
    said = (
        [Fact(_("Customer"), shape["owner"], url=f"{reverse('jobs')}?owner={shape['owner']}")]
        if shape["owner"]
        else []
    )
    cancel = shape["cancel"]
    if cancel:
        said.append(Fact(_("Cancel asked by"), cancel["asked_by"] or cancel["by"], at=row.cancel_at))
        said.append(Fact(_("Why"), cancel["cause"]["short"], note=cancel["note"]))
    if row.unsettled_since:
        target = row.unsettled_since.timestamp() + found.queue.limit_seconds - found.now.timestamp()
        left = _("%(span)s left") if target > 0 else _("%(span)s over")
        said.append(
            Fact(
                _("Target"), left % {"span": looks.span(abs(target))}, tone="pending" if target > 0 else "bad"
            )
        )
    if shape["claim"]:
        alive = _("live") if shape["claim"]["live"] else _("its lease has ended")
        said.append(
            Fact(
                _("Worker"), f"{shape['claim']['worker']}: {alive}", at=row.heartbeat_at, note=_("last heard")
            )
        )
    rule = {
        "2": _("two people record an outcome"),
        "2 for did-not-happen": _("two people for “did not happen”"),
    }
    said.append(Fact(_("Rule"), rule.get(found.queue.reconcile_needs, _("one person records an outcome"))))
    said.append(Fact(_("Spec digest"), shape["spec_digest"], code=True))
    return said
