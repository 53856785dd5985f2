"""Steps that somebody had to look into: testimony, disputes, outcomes for a second person."""

from runs.protocol import asks

from ..teller import Teller
from .running import completed
from .story import story


def revoked_while_out(t: Teller) -> None:
    t.submit(queue="mail")
    t.claim()
    t.send(0)
    t.event("seed-ops", asks.Revoke, cause="operator_requested", note="stuck")


@story(2)
def disputed(t: Teller) -> None:
    """The claim was taken away, its worker's late word is testimony, and a person found the contrary."""
    revoked_while_out(t)
    t.report(0, "ok", "sent before I lost it")
    t.reconcile(0, "rejected")


@story(1)
def testimony_only(t: Teller) -> None:
    revoked_while_out(t)
    t.report(0, "ok", "sent before I lost it")


@story(1)
def dispute_closed(t: Teller) -> None:
    disputed.tell(t)
    t.event("seed-lena", asks.CloseDispute, ordinal=0, note="The receiver's word counts.")


@story(1)
def doubted(t: Teller) -> None:
    """Put back as never sent, and now its worker says that it was: nothing goes on until that is closed."""
    t.submit(marked=True)
    t.claim()
    t.reserve()
    t.event("seed-ops", asks.Revoke, cause="operator_requested")
    t.report(0, "ok")


@story(1)
def contradicted(t: Teller) -> None:
    completed.tell(t)
    t.reconcile(0, "rejected")


@story(2)
def reconciled(t: Teller) -> None:
    t.submit(queue="mail", steps=2)
    t.claim()
    t.send(0)
    t.report(0, "unknown")
    t.reconcile(0, "ok", t.rng.choice(("seed-sam", "verifier")), "seen at the receiver")


def proposed(t: Teller) -> str:
    t.submit(queue="books")
    t.claim()
    t.send(0)
    t.report(0, "unknown")
    t.recently()
    return str(t.reconcile(0, t.rng.choice(("ok", "rejected")))["proposal"])


@story(3)
def proposal_waits(t: Teller) -> None:
    proposed(t)


@story(1)
def proposal_approved(t: Teller) -> None:
    t.event("seed-lena", asks.Approve, proposal=proposed(t), note="I see the same.")


@story(1)
def proposal_declined(t: Teller) -> None:
    t.event(t.rng.choice(("seed-lena",)), asks.Decline, proposal=proposed(t))
