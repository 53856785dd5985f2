"""Jobs to which time happened: a lease ended, a day went by. Told only where time can be moved."""

from runs.protocol import asks

from ..teller import Teller
from .running import left_behind
from .story import LONG, story


@story(2, into=LONG)
def lapsed(t: Teller) -> None:
    left_behind.tell(t)
    t.wait(minutes=10)
    t.ask("system", asks.Lapse())


@story(1, into=LONG)
def lapsed_back(t: Teller) -> None:
    """Its lease ended after the cancel, before the mark: it was not sent; its worker says otherwise."""
    t.submit(marked=True)
    t.claim(ttl_seconds=30)
    t.reserve()
    t.cancel()
    t.wait(minutes=10)
    t.ask("system", asks.Lapse())
    t.report(0, "unknown")


@story(2, into=LONG)
def taken_over(t: Teller) -> None:
    left_behind.tell(t)
    first, worker = t.token, t.worker
    t.wait(minutes=10)
    t.recently()
    t.claim(worker="seed-w2" if worker != "seed-w2" else "seed-w3")
    t.worker = worker
    t.report(0, "ok", "so it was I", token=first)


@story(1, into=LONG)
def proposal_expired(t: Teller) -> None:
    t.wait(hours=-26)  # so that its day is over by now
    t.submit(queue="books")
    t.claim()
    t.send(0)
    t.report(0, "unknown")
    proposal = t.reconcile(0, "ok")["proposal"]
    t.wait(hours=25)
    t.ask("system", asks.Expire(proposal=proposal))
