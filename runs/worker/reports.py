"""What a step's end becomes: report `ok`, `rejected` or `unknown`, or release (docs/protocol.md, report).

Every plan here returns None to go on with the job (reserve then says where it stands), or how the run ended.
"""

from __future__ import annotations

from runs.worker import wire
from runs.worker.errors import Problem, Refused, SdkError, Unexpected
from runs.worker.outcome import Ended, How
from runs.worker.plans import Plan, log, persist
from runs.worker.step import Evidence, Happened, Reservation, fit


def happened(reservation: Reservation, said: Happened) -> Plan[Ended | None]:
    """Report `ok`, also when the claim is known to be lost: late results are kept, as testimony."""
    value = fit(said.value)
    evidence = _body(said.evidence) if said.evidence else None
    try:
        answer = yield from _report(reservation, "ok", value=value, evidence=evidence)
    except Problem as problem:
        if evidence is None or problem.status != 422:
            raise
        answer = None
    if answer is None or answer.status == "not_evidence":
        # An effect that happened is told, even where the words that came with it are not taken.
        log.error("step %s: its evidence was not taken: %s", reservation.ordinal, evidence)
        answer = yield from _report(reservation, "ok", value=value)
    return _after(answer)


def rejected(reservation: Reservation, no: Refused) -> Plan[Ended | None]:
    """Report `rejected`: the tool or the receiver said no."""
    evidence = {"kind": no.kind, "text": fit(str(no)) or no.kind}
    answer = yield from _report(reservation, "rejected", evidence=evidence)
    return _after(answer)


def unknown(reservation: Reservation, text: str, error: Exception | None = None) -> Plan[Ended | None]:
    """Report `unknown`; `text` is a clue for whoever has to find out."""
    evidence = {"kind": "other", "text": fit(text) or "no words"}
    answer = yield from _report(reservation, "unknown", evidence=evidence)
    if answer.status != "unresolved":
        return _after(answer)
    return Ended(How.UNKNOWN, reservation.cancel.cause, ordinal=reservation.ordinal, error=error)


def abandon(reservation: Reservation, error: Exception) -> Plan[Ended | None]:
    """The function raised `error`. Where that was decides, not what it says: it may have been sent."""
    claim = reservation.claim
    if claim.cancel.lost or reservation.refused:
        return None
    if claim.marked and not reservation.sent:
        ask = wire.command(
            claim.job_id,
            "release",
            event_id=wire.new_event_id(),
            claim=claim.token,
            ordinal=reservation.ordinal,
        )
        answer = yield from persist(ask, reservation.retry)
        match answer.status:
            case "released":
                how = How.CANCELLED if claim.cancel.accepted else How.STOPPED
                return Ended(how, reservation.cancel.cause, ordinal=reservation.ordinal, error=error)
            case "claim_lost" | "not_reserved":
                return None
            case "already_dispatched":  # the permission never arrived: not sent, but that can't be shown
                pass
            case _:
                raise Unexpected(f"release answered {answer.status!r}")
    clue = f"{type(error).__name__}: {error}"
    if not reservation.sent:
        clue = f"stopped before it was sent, by the worker's account. {clue}"
    return (yield from unknown(reservation, clue, error))


def _report(
    reservation: Reservation,
    outcome: str,
    *,
    value: str | None = None,
    evidence: dict[str, str] | None = None,
) -> Plan[wire.Answer]:
    """One report, its event id minted once. Whatever ends it without an answer says what was not told."""
    claim = reservation.claim
    ask = wire.command(
        claim.job_id,
        "report",
        event_id=wire.new_event_id(),
        claim=claim.token,
        ordinal=reservation.ordinal,
        outcome=outcome,
        value=value,
        evidence=evidence,
    )
    try:
        return (yield from persist(ask, reservation.retry))
    except SdkError as error:
        error.add_note(f"step {reservation.ordinal} of {claim.job_id}: not told: {outcome} {value or ''}")
        raise


def _after(answer: wire.Answer) -> Ended | None:
    match answer.status:
        case "settled" if answer.get("result") in ("succeeded", "failed"):
            return Ended(How.FINISHED, result=answer["result"])
        case "settled" | "already_settled" | "not_reserved" | "fenced" | "claim_lost":
            return None
        case _:
            raise Unexpected(f"report answered {answer.status!r}")


def _body(evidence: Evidence) -> dict[str, str]:
    body = {"kind": evidence.kind, "text": fit(evidence.text) or evidence.kind}
    return body | ({"link": evidence.link} if evidence.link else {})
