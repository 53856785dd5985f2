"""How far an accepted cancel has come on its way to the code that runs: recorded, offered, heard, stopping,
settled. What is not known yet is said, never left out."""

from django.utils.translation import gettext as _

from runs.queries.job_page import JobPage

from . import looks
from .shapes import Fact


def ladder(found: JobPage) -> list[Fact]:
    """The rungs from the top; none without an accepted cancel of an admitted job."""
    row = found.row
    if found.shape["control"] == "run" or not row.admitted:
        return []
    recorded = Fact(_("Recorded"), _("receipt #%(seq)d,") % {"seq": row.cancel_seq or 0}, at=row.cancel_at)
    return [recorded, _offered(found), _heard(found), _stopping(found), _settled(found)]


def _offered(found: JobPage) -> Fact:
    row = found.row
    if not _is_of_cancel(found, row.offered_seq):
        return Fact(_("Offered"), *_nobody(found, _("not offered: no live worker")))
    by = _("by socket,") if row.offered_by == "socket" else _("by heartbeat,")
    return Fact(_("Offered"), by, at=row.offered_at)


def _heard(found: JobPage) -> Fact:
    row = found.row
    if not _is_of_cancel(found, row.heard_seq) or not row.heard_at or not row.cancel_at:
        return Fact(_("Heard"), *_nobody(found, _("not heard: no live worker")))
    gap = looks.gap((row.heard_at - row.cancel_at).total_seconds())
    return Fact(_("Heard"), _("%(gap)s after the cancel,") % {"gap": gap}, at=row.heard_at)


def _is_of_cancel(found: JobPage, seq: int | None) -> bool:
    """It may be a pause that was offered or heard."""
    return seq is not None and seq in (found.row.cancel_seq, found.row.escalated_seq)


def _nobody(found: JobPage, without_worker: str) -> tuple[str, str, str]:
    """Why a rung is not reached: text, url, tone. After the end of it all nobody is waited for."""
    claim = found.shape["claim"]
    if not claim or not claim["live"]:
        return without_worker, "", "bad" if found.shape["unsettled"] is not None else ""
    if found.shape["control"] == "acknowledged":
        return _("no: nothing was out any more"), "", ""
    return _("not yet"), "", "pending"


def _stopping(found: JobPage) -> Fact:
    shape, row = found.shape, found.row
    if shape["control"] == "acknowledged":
        return Fact(_("Stopping"), _("nothing is out"))
    if shape["unsettled"] is None:
        blocker = found.family.blocker
        text = (
            _("waits for %(job)s below it") % {"job": blocker.row.job_id}
            if blocker
            else _("waits for the jobs below it")
        )
    elif shape["steps"][shape["unsettled"]]["state"] == "unknown":
        text = _("step %(n)d is unknown: somebody must look") % {"n": shape["unsettled"] + 1}
    else:
        text = _("step %(n)d is out") % {"n": shape["unsettled"] + 1}
    if row.escalated_seq is not None:
        return Fact(_("Stopping"), text, note=_("Its grace has ended: told to give up."), tone="bad")
    return Fact(
        _("Stopping"), _("%(text)s; grace until") % {"text": text}, at=row.grace_until, tone="pending"
    )


def _settled(found: JobPage) -> Fact:
    if found.shape["control"] != "acknowledged":
        return Fact(_("Settled"), _("not yet"), tone="pending")
    told = (
        each for each in found.receipts if (each["kind"], each["status"]) == ("checkpoint", "acknowledged")
    )
    receipt = next(told, None)  # it may stand on an earlier page
    if receipt is None:
        return Fact(_("Settled"), _("stop confirmed"))
    return Fact(_("Settled"), _("stop confirmed,"), at=looks.moment(receipt["at"]))
