"""A cancel certificate held against itself: whether all that it shows follows from the receipts in it. Pure.

It knows neither the database nor the signature nor the sentence (manage.py verify). What no receipt tells is
listed in UNTOLD: for that, a certificate has its signer's word alone.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from .canonical import canonical
from .findings import Finding, UnreadableError, rendered
from .job import Walk
from .receipts import Receipt
from .state import Job

FORMAT = "cancelboard certificate 1"
UNTOLD = (
    *("tenant", "children_unfinished", "blocked_submits", "cancel.heard_at", "cancel.cause.short"),
    *("cancel.cause.text", "claim.lease_expires_at", "claim.live"),
)
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
TEXT, NUMBER, NO = str, int, type(None)
Shape = Mapping[str, tuple[type, ...]]
CERTIFICATE: Shape = {
    **dict.fromkeys(("format", "head_digest", "sentence", "issued_at"), (TEXT,)),
    "job": (dict,),
    "receipts": (list,),
    "signature": (dict, NO),
}
RECEIPT: Shape = {
    "seq": (NUMBER,),
    "event_id": (TEXT, NO),
    "job_id": (TEXT,),
    "kind": (TEXT,),
    "status": (TEXT,),
    "actor": (dict,),
    "ordinal": (NUMBER, NO),
    "body": (dict,),
    "detail": (dict,),
    "at": (TEXT,),
    "prev_digest": (TEXT,),
    "digest": (TEXT,),
}


def broken(certificate: Any) -> Iterator[Finding]:
    """Everything in it that its own receipts don't bear out; nothing, if it is whole."""
    try:
        _shaped("certificate", certificate, CERTIFICATE)
        receipts = [_receipt(f"receipts.{n}", given) for n, given in enumerate(certificate["receipts"])]
        issued_at = _time("issued_at", certificate["issued_at"])
    except UnreadableError as wrong:
        yield wrong.finding("form")
        return
    if certificate["format"] != FORMAT:
        yield Finding("form", "format", FORMAT, certificate["format"])
        return
    job, walk = certificate["job"], Walk()
    for receipt in receipts:
        if receipt.job_id != job.get("job_id"):
            yield Finding("I10", f"whose {receipt} is", job.get("job_id"), receipt.job_id)
        yield from walk.take(receipt)
    if walk.job is None:
        yield Finding("I9", "receipts", "a first one that can be replayed", len(receipts))
        return
    if issued_at < receipts[-1].at:
        yield Finding("form", "issued_at, not before its last receipt", receipts[-1].at, issued_at)
    if not isinstance(job.get("tenant"), str):
        yield Finding("form", "job.tenant", "a text", job.get("tenant"))
    yield from _differ("head_digest", walk.chain.head, certificate["head_digest"])
    yield from _differ("job", _shown(walk.job, receipts), job)


def _shaped(where: str, value: Any, shape: Shape) -> None:
    if not isinstance(value, dict) or set(value) != set(shape):
        found = sorted(value) if isinstance(value, dict) else type(value).__name__
        raise UnreadableError(where, f"an object of {', '.join(shape)}", found)
    for name, kinds in shape.items():
        if not isinstance(value[name], kinds) or (isinstance(value[name], bool) and NUMBER in kinds):
            wanted = " or ".join(kind.__name__ for kind in kinds)
            raise UnreadableError(f"{where}.{name}", f"a value of type {wanted}", value[name])


def _receipt(where: str, given: Any) -> Receipt:
    _shaped(where, given, RECEIPT)
    _shaped(f"{where}.actor", given["actor"], {"type": (TEXT,), "name": (TEXT,)})
    return Receipt(
        seq=given["seq"],
        event_id=given["event_id"],
        job_id=given["job_id"],
        kind=given["kind"],
        status=given["status"],
        actor_type=given["actor"]["type"],
        actor_name=given["actor"]["name"],
        ordinal=given["ordinal"],
        body_text=canonical(given["body"]),
        detail_text=canonical(given["detail"]),
        at=_time(f"{where}.at", given["at"]),
        prev_digest=given["prev_digest"],
        digest=given["digest"],
    )


def _time(where: str, given: str) -> datetime:
    try:
        if TIME.fullmatch(given):
            return datetime.fromisoformat(given)
    except ValueError:
        pass  # such a day there is not
    raise UnreadableError(where, "a time as YYYY-MM-DDTHH:MM:SS.ffffffZ", given)


def _differ(where: str, expected: Any, found: Any) -> Iterator[Finding]:
    """Where `found` is not what it must be; what it holds besides is not looked at."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name, value in expected.items():
            yield from _differ(f"{where}.{name}", value, found.get(name, "nothing"))
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for n, pair in enumerate(zip(expected, found, strict=True)):
            yield from _differ(f"{where}.{n}", *pair)
    elif canonical(expected) != canonical(found):
        yield Finding("I9", where, expected, found)


def _shown(job: Job, receipts: list[Receipt]) -> dict[str, Any]:
    """The job as docs/http.md shows it, as far as its receipts tell."""
    first, last = receipts[0], receipts[-1]
    _, at, digits = (first.job_id or "").rpartition("@")
    cancel = job.cancel and {
        "cause": {"code": job.cancel.cause},
        "note": job.cancel.note,
        "asked_by": job.cancel.asked_by,
        "by": job.cancel.by,
        "at": rendered(job.cancel.at),
        "grace_until": rendered(job.cancel.grace_until),
        "too_late": job.too_late,
    }
    return {
        "job_id": first.job_id,
        "queue": job.spec["queue"],
        "owner": job.spec["owner"],
        "generation": int(digits) if at and digits.isdigit() else 0,
        "dispatch": job.spec["dispatch"],
        "parent": job.spec["parent"],
        "spec_digest": job.spec_digest,
        "admitted": job.admitted,
        "control": job.control,
        "result": job.result,
        "paused_at": rendered(job.paused[0]) if job.paused else None,
        "headline": headline(job),
        "disputed": any(step.disputed for step in job.steps),
        "steps": _steps(job, receipts),
        "unsettled": job.unsettled,
        "cancel": cancel,
        "claim": {"worker": job.holder, "fence": job.fence} if job.holder else None,
        "seq": last.seq,
        "head_digest": last.digest,
        "created_at": rendered(job.created_at),
        "updated_at": rendered(last.at),
    }


def _steps(job: Job, receipts: list[Receipt]) -> list[dict[str, Any]]:
    said = _testimony(receipts)
    return [
        {
            **asked,
            "ordinal": ordinal,
            "state": step.state,
            "value": step.value,
            "dispatched_at": rendered(step.dispatched_at) if step.dispatched_at else None,
            "settled_by": _settled_by(*step.settled[-1]) if step.settled else None,
            "disputed": step.disputed,
            "testimony": said.get(ordinal, []),
        }
        for ordinal, (step, asked) in enumerate(zip(job.steps, job.spec["steps"], strict=True))
    ]


def _settled_by(kind: str, name: str, seq: int) -> dict[str, Any]:
    return {"actor": {"type": kind, "name": name}, "seq": seq}


def _testimony(receipts: list[Receipt]) -> dict[int | None, list[dict[str, Any]]]:
    workers: dict[Any, Any] = {}
    found: dict[int | None, list[dict[str, Any]]] = {}
    for receipt in receipts:
        shown = receipt.shown()
        body, detail = shown["body"], shown["detail"]
        if (receipt.kind, receipt.status) == ("claim", "claimed"):
            workers[canonical(detail.get("fence"))] = body.get("worker")
        elif (receipt.kind, receipt.status) == ("report", "fenced"):
            fence = body.get("claim")
            told = {
                "seq": receipt.seq,
                "worker": workers.get(canonical(fence), ""),
                "fence": fence,
                "outcome": body.get("outcome"),
                "value": body.get("value"),
                "at": rendered(receipt.at),
            }
            found.setdefault(receipt.ordinal, []).append(told)
    return found


def headline(job: Job) -> str:
    """The first of docs/http.md's that applies."""
    ended = {"succeeded": "completed", "failed": "failed"}.get(job.result)
    if not job.admitted:
        return "blocked_before_start"
    if job.control == "acknowledged":
        return {"succeeded": "completed_despite_cancel", "failed": "stopped_after_failure"}.get(
            job.result, "stopped"
        )
    if job.control == "requested":
        return {"unknown": "verifying_unknown", "inflight": "verifying"}.get(job.current, "stopping")
    if ended:
        return f"{ended}_cancel_too_late" if job.too_late else ended
    waiting = "paused" if job.paused else "ready"
    return {"unknown": "outcome_unknown", "inflight": "working"}.get(job.current, waiting)
