"""Jobs that nobody cancelled."""

from runs.protocol import asks
from runs.protocol.evidence import Evidence

from ..teller import Teller
from .story import story


@story(4)
def ready(t: Teller) -> None:
    t.submit()


@story(3)
def between_two_steps(t: Teller) -> None:
    t.recently()
    t.submit(steps=3)
    t.claim()
    t.steps(until=1)


@story(4)
def working(t: Teller) -> None:
    t.recently()
    t.submit()
    t.claim()
    t.send(0)


@story(2)
def working_marked(t: Teller) -> None:
    t.recently()
    t.submit(marked=True, steps=2)
    t.claim()
    t.steps(until=1)
    t.send(1)


@story(2)
def reserved_not_marked(t: Teller) -> None:
    t.recently()
    t.submit(marked=True)
    t.claim()
    t.reserve()


@story(2)
def left_behind(t: Teller) -> None:
    """A worker took a short lease, and died: nobody has judged the step yet."""
    t.submit()
    t.claim(ttl_seconds=5)
    t.send(0)


@story(3)
def outcome_unknown(t: Teller) -> None:
    t.submit()
    t.claim()
    t.send(0)
    t.report(0, "unknown")
    sees_nothing = Evidence(kind="not_found", text="Not in the receiver's log yet.")
    t.event("seed-sam", asks.Observe, ordinal=0, note="Will look again.", evidence=sees_nothing)


@story(2)
def paused(t: Teller) -> None:
    t.submit(steps=2)
    t.claim()
    t.steps(until=1)
    t.event("seed-ops", asks.Pause, cause="paused_by_user", note="The customer is on the phone.")


@story(1)
def paused_and_resumed(t: Teller) -> None:
    t.submit(steps=2)
    t.event("seed-ops", asks.Pause, cause="paused_on_reload")
    t.event("seed-ops", asks.Resume)
    t.claim()
    t.steps()


@story(30)
def completed(t: Teller) -> None:
    t.submit()
    t.claim()
    t.steps()


@story(6)
def completed_marked(t: Teller) -> None:
    t.submit(marked=True)
    t.claim()
    t.steps()


@story(2)
def completed_without_its_mark(t: Teller) -> None:
    t.submit(marked=True, steps=1)
    t.claim()
    t.reserve()
    t.report(0)


@story(4)
def failed(t: Teller) -> None:
    t.submit(steps=2)
    t.claim()
    t.steps(until=1)
    t.send(1)
    t.report(1, "rejected", "550 no such user")


@story(1)
def released_and_done(t: Teller) -> None:
    t.submit(marked=True)
    t.claim()
    t.reserve()
    t.event(t.worker, asks.Release, claim=t.token, ordinal=0)
    t.steps()
