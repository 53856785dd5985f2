"""Jobs that somebody cancelled: in time, too late, or before they came."""

from runs.protocol import asks

from ..teller import Teller
from .running import completed, failed, working
from .story import story


@story(3)
def completed_cancel_too_late(t: Teller) -> None:
    completed.tell(t)
    t.cancel()


@story(1)
def failed_cancel_too_late(t: Teller) -> None:
    failed.tell(t)
    t.cancel()


@story(3)
def verifying(t: Teller) -> None:
    working.tell(t)
    t.cancel()


@story(1)
def verifying_past_its_grace(t: Teller) -> None:
    working.tell(t)
    t.cancel(grace_seconds=0)
    t.ask("system", asks.Escalate())


@story(3)
def verifying_unknown(t: Teller) -> None:
    t.submit()
    t.claim()
    t.send(0)
    t.cancel()
    t.report(0, "unknown")


@story(6)
def stopped(t: Teller) -> None:
    """Nothing was out when the cancel came."""
    t.submit(steps=3)
    t.claim()
    t.steps(until=t.rng.choice((1, 2)))
    t.cancel()


@story(2)
def stopped_before_the_mark(t: Teller) -> None:
    """The step was reserved when the cancel came, and dispatch refused to let it out."""
    t.submit(marked=True)
    t.claim()
    t.reserve()
    t.cancel()
    t.ask(t.worker, asks.Dispatch(claim=t.token, ordinal=0, attempt="once"))


@story(3)
def completed_despite_cancel(t: Teller) -> None:
    t.submit(steps=1)
    t.claim()
    t.send(0)
    t.cancel()
    t.report(0)


@story(1)
def stopped_after_failure(t: Teller) -> None:
    t.submit(steps=2)
    t.claim()
    t.send(0)
    t.cancel()
    t.report(0, "rejected", "the card was declined")


@story(3)
def blocked_before_start(t: Teller) -> None:
    t.draw()
    t.cancel(spec=t.spec)


@story(2)
def blocked_and_tried(t: Teller) -> None:
    """The job came after its cancel, more than once."""
    blocked_before_start.tell(t)
    for _ in range(t.rng.choice((1, 1, 2, 5))):
        t.ask("seed-app", asks.Submit(job_id=t.job, spec=t.spec))


@story(2, jobs=2)
def stopping(t: Teller) -> None:
    """The parent's stop waits for a child that runs on."""
    parent = t.submit()
    of_parent = t.spec
    t.submit(parent=parent, queue="mail")
    t.job, t.spec = parent, of_parent
    t.cancel()


@story(2, jobs=3)
def family_stopped(t: Teller) -> None:
    parent = t.submit()
    of_parent = t.spec
    t.submit(parent=parent, steps=1)
    t.claim()
    t.steps()
    t.submit(parent=parent)
    t.cancel()
    t.job, t.spec = parent, of_parent
    t.cancel()
