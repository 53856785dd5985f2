"""A receipt in a place where the protocol could not have left it is named, though its digest be right."""

from collections.abc import Callable

import pytest

from .told import Told

pytestmark = pytest.mark.pure

unmarked = Told


def tombstone() -> Told:
    return Told(admitted=False)


def marked() -> Told:
    return Told(dispatch="marked")


def put_back() -> Told:
    """Told by its lost claim to have been sent, though it went back to pending: disputed before it ran."""
    return marked().out().revoke().report("fenced")


#: what: (told until there and beyond, the rule, where it says)
MISPLACED: dict[str, tuple[Callable[[], Told], str, str]] = {
    "a second cancel": (lambda: unmarked().out().cancel().cancel(), "I9", "control"),
    "a cancel of what has ended": (lambda: unmarked().done().cancel(), "I9", "result"),
    "too late too early": (lambda: unmarked().cancel("too_late"), "I9", "that the result is final"),
    "too late after a cancel": (
        lambda: unmarked().out().cancel().report("settled", "rejected").cancel("too_late"),
        "I9",
        "control",
    ),
    "a stop confirmed that nobody asked for": (lambda: unmarked().confirm(), "I9", "control"),
    "a stop confirmed twice": (lambda: unmarked().cancel().confirm().confirm(), "I9", "control"),
    "a stop confirmed over a step": (lambda: unmarked().out().cancel().confirm(), "I5", "unsettled step"),
    "a claim of a tombstone": (lambda: tombstone().claim(), "I6", "admitted"),
    "a claim of what has ended": (lambda: unmarked().done().claim("other"), "I9", "result"),
    "a claim after the stop": (
        lambda: unmarked().cancel().confirm().claim(),
        "I9",
        "that the stop is not confirmed",
    ),
    "a takeover without a cause": (
        lambda: unmarked().claim().claim(),
        "unreadable",
        "receipt 3 (claim claimed) detail.cause",
    ),
    "a revoke of nothing": (lambda: unmarked().revoke(), "I9", "that somebody holds the claim"),
    "a revoke twice": (lambda: unmarked().claim().revoke().revoke(), "I9", "that somebody holds the claim"),
    "a reserve without a claim": (
        lambda: unmarked().reserve(claim=0),
        "I12",
        "that somebody holds the claim",
    ),
    "a reserve by an old claim": (lambda: unmarked().claim().claim("other").reserve(), "I12", "fence"),
    "a reserve after a cancel": (lambda: unmarked().claim().cancel().reserve(), "I9", "control"),
    "a reserve while paused": (lambda: unmarked().claim().pause().reserve(), "I9", "paused"),
    "two steps out": (lambda: unmarked().out().reserve(), "I1", "unsettled step"),
    "a reserve of a disputed step": (
        lambda: put_back().claim().reserve(claim=3),
        "I9",
        "disputed of step 0",
    ),
    "a reserve of nothing": (
        lambda: unmarked().done().reserve(),
        "unreadable",
        "ordinal of receipt 7 (reserve reserved)",
    ),
    "a mark in an unmarked job": (lambda: unmarked().out().dispatch_(), "I9", "dispatch"),
    "a mark of nothing": (lambda: marked().claim().dispatch_(), "I9", "state of step 0"),
    "a second mark": (lambda: marked().out().dispatch_().dispatch_(), "I9", "mark of step 0"),
    "a mark by another attempt": (lambda: marked().out().dispatch_(attempt="b"), "I9", "attempt of step 0"),
    "a mark after a cancel": (lambda: marked().out().cancel().dispatch_(), "I9", "control"),
    "a mark by an old claim": (lambda: marked().out().revoke().dispatch_(), "I12", "fence"),
    "a mark refused for no cancel": (
        lambda: marked().out().dispatch_("cancelled"),
        "I9",
        "that a stop was asked for",
    ),
    "a release in an unmarked job": (lambda: unmarked().out().release(), "I9", "dispatch"),
    "a release of what was sent": (lambda: marked().out().dispatch_().release(), "I9", "mark of step 0"),
    "an outcome of nothing": (lambda: unmarked().claim().report("settled"), "I9", "unsettled step"),
    "unknown of nothing": (
        lambda: unmarked().claim().report("unresolved", "unknown"),
        "I9",
        "unsettled step",
    ),
    "an outcome twice": (
        lambda: unmarked().out().report("settled").report("settled"),
        "I8",
        "settling receipts of step 0",
    ),
    "an outcome behind the cursor": (
        lambda: unmarked().out().report("settled", ordinal=1),
        "I2",
        "steps before step 1 that are not ok",
    ),
    "an outcome by an old claim": (
        lambda: unmarked().out().claim("other").report("settled"),
        "I12",
        "fence",
    ),
    "testimony of a live claim": (
        lambda: unmarked().out().report("fenced"),
        "I12",
        "that the reporting claim was lost",
    ),
    "testimony on an outcome": (
        lambda: unmarked().failed().revoke().report("fenced"),
        "I9",
        "that step 0 is not settled",
    ),
    "already settled, but it is not": (
        lambda: unmarked().out().report("already_settled"),
        "I9",
        "that step 0 is settled",
    ),
    "a pause twice": (lambda: unmarked().pause().pause(), "I9", "paused"),
    "a pause after a cancel": (lambda: unmarked().cancel().pause(), "I9", "control"),
    "a pause at the end": (lambda: unmarked().done().pause(), "I9", "result"),
    "a resume of what runs": (lambda: unmarked().pause("resumed"), "I9", "that the job is paused"),
    "a finding on a pending step": (
        lambda: unmarked().reconcile("settled"),
        "I9",
        "that step 0 can be settled",
    ),
    "a proposal on a pending step": (
        lambda: unmarked().reconcile("proposed"),
        "I9",
        "that step 0 can be settled",
    ),
    "a proposal twice": (
        lambda: unmarked().entered().reconcile("proposed"),
        "proposals",
        "that proposal p is new",
    ),
    "an approval by oneself": (
        lambda: unmarked().entered().decide("approve", "settled", "sam"),
        "proposals",
        "that somebody else approves",
    ),
    "an approval after a day": (
        lambda: unmarked().entered().later(hours=24).decide("approve", "settled"),
        "proposals",
        "that proposal p still runs",
    ),
    "an approval of what has changed": (
        lambda: unmarked().entered().revoke().report("fenced").decide("approve", "settled"),
        "proposals",
        "version of step 0",
    ),
    "an approval of what was declined": (
        lambda: unmarked().entered().decide("decline", "declined").decide("approve", "settled"),
        "proposals",
        "state of proposal p",
    ),
    "an approval of nothing": (
        lambda: unmarked().decide("approve", "settled"),
        "unreadable",
        "body.proposal of receipt 2 (approve settled)",
    ),
    "a decline after a day": (
        lambda: unmarked().entered().later(hours=24).decide("decline", "declined"),
        "proposals",
        "that proposal p still runs",
    ),
    "an expiry within the day": (
        lambda: unmarked().entered().later(hours=23).decide("expire", "expired"),
        "proposals",
        "that proposal p is over",
    ),
    "a dispute closed that was none": (lambda: unmarked().out().close(), "I9", "disputed of step 0"),
    "a lapse over nothing": (lambda: unmarked().claim().lapse(), "unreadable", "unsettled step"),
    "a lapse over an unknown step": (lambda: unmarked().out().lapse().lapse(), "I9", "state of step 0"),
    "a lapse that puts back what may be sent": (
        lambda: marked().out().lapse(),
        "I9",
        "that a stop was asked for",
    ),
    "an abort that nobody asked for": (lambda: unmarked().out().later(days=1).escalate(), "I9", "control"),
    "an abort of nothing": (
        lambda: unmarked().cancel().later(days=1).escalate(),
        "I9",
        "that a step is unsettled",
    ),
    "an abort within the grace": (
        lambda: unmarked().out().cancel().escalate(),
        "I9",
        "that the grace is over",
    ),
    "an abort twice": (
        lambda: unmarked().out().cancel().later(days=1).escalate().escalate(),
        "I9",
        "escalation",
    ),
    "a decision that there is not": (
        lambda: unmarked()("claim", "perhaps"),
        "unreadable",
        "receipt 2 (claim perhaps)",
    ),
    "a second beginning": (
        lambda: unmarked()("submit", "admitted"),
        "unreadable",
        "receipt 2 (submit admitted)",
    ),
}


@pytest.mark.parametrize("what", MISPLACED)
def test_a_misplaced_receipt_is_named(what: str) -> None:
    tell, rule, where = MISPLACED[what]
    found = tell()
    assert (rule, where) in found.rules
    assert {
        finding.where.split("receipt ")[-1].split()[0]
        for finding in found.found
        if "receipt" in finding.where
    } <= {str(found.seq)}, "nothing is said of the receipts before it"


RIGHT: dict[str, Callable[[], Told]] = {
    "done": lambda: unmarked().done().cancel("too_late").cancel("too_late"),
    "failed": lambda: unmarked().failed().cancel("too_late"),
    "stopped": lambda: unmarked().out().cancel().later(days=1).escalate().report("settled").confirm(),
    "marked": lambda: marked().out().dispatch_().report("settled").reserve().report("settled", ordinal=1),
    "released": lambda: marked().out().release().reserve(attempt="b").dispatch_(attempt="b"),
    "refused": lambda: marked().out().cancel().dispatch_("cancelled").confirm(),
    "taken over": lambda: unmarked().out().claim("other").report("fenced").report("settled", claim=2),
    "disputed": lambda: put_back().reconcile("settled").close(),
    "lapsed": lambda: unmarked().out().lapse().report("unresolved", "unknown").reconcile("settled"),
    "lapsed back": lambda: marked().out().cancel().lapse().confirm().report("fenced", "unknown"),
    "paused": lambda: unmarked().pause().pause("resumed").out(),
    "approved": lambda: unmarked().entered().later(hours=23).decide("approve", "settled"),
    "expired": lambda: unmarked().entered().later(hours=24).decide("expire", "expired"),
}


@pytest.mark.parametrize("what", RIGHT)
def test_a_receipt_in_its_place_is_not(what: str) -> None:
    assert RIGHT[what]().rules == []


def test_state_after_a_dispute() -> None:
    """Section 6: another value for the same outcome contradicts, an empty one and `unknown` do not."""
    for value, outcome, disputed in (
        ("b", "ok", True),
        ("", "ok", False),
        ("b", "unknown", False),
        ("", "rejected", True),
    ):
        told = unmarked().out().claim("other").report("fenced", outcome, value=value)
        told.report("settled", claim=2, value="a")
        assert (told.job.steps[0].disputed, told.rules) == (disputed, [])


def test_a_step_left_behind() -> None:
    """Section 5, second row: back to pending only where the mark is required and missing."""
    assert unmarked().out().revoke().job.steps[0].state == "unknown"
    assert marked().out().revoke().job.steps[0].state == "pending"
    assert marked().out().dispatch_().revoke().job.steps[0].state == "unknown"
